/** Small engines for tests of the node. */
import type { Engines } from '../../src/engines/engines.ts';

export interface EngineCalls {
  readonly engines: Engines;
  readonly calls: unknown[][];
}

/** Recognises `heard`, translates by marks, speaks one sample per letter. */
export function testEngines(heard = 'i see twenty five dogs'): EngineCalls {
  const calls: unknown[][] = [];
  const close = async (): Promise<void> => {};
  return {
    calls,
    engines: {
      recognizers: [
        {
          model: 'ears',
          languages: ['en'],
          recognize: async (speech, language) => {
            calls.push(['asr', speech.length, language]);
            return heard;
          },
          close,
        },
      ],
      translators: [
        {
          model: 'tables',
          pairs: [
            { source: 'en', target: 'es' },
            { source: 'en', target: 'pt', via: 'es' },
          ],
          translate: async (text, { source, target }) => {
            calls.push(['nmt', text, source, target]);
            return `<${target}:${text}>`;
          },
          close,
        },
      ],
      synthesizers: [
        {
          model: 'voice',
          languages: ['es', 'pt'],
          speak: async (text, language) => {
            calls.push(['tts', text, language]);
            return new Int16Array(text.length).fill(1);
          },
          close,
        },
      ],
    },
  };
}
