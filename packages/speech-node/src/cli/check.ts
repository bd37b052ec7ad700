/** Tests each engine with a sentence that is spoken by the synthesizer, and prints a table. */
import { samplesOf } from '../audio/wav.ts';
import { type Engines, SAMPLE_RATE } from '../engines/engines.ts';
import { createEspeakSynthesizer } from '../engines/espeak/espeak-synthesizer.ts';

/** The same sentence in each language, and a word in it that recognition must find. */
const SENTENCES: ReadonlyMap<string, { readonly text: string; readonly word: RegExp }> = new Map([
  ['ca', { text: 'El museu està tancat els dilluns.', word: /museu/i }],
  ['en', { text: 'The museum is closed on Mondays.', word: /museum/i }],
  ['eo', { text: 'La muzeo estas fermita lunde.', word: /muzeo/i }],
  ['es', { text: 'El museo está cerrado los lunes.', word: /museo/i }],
  ['fr', { text: 'Le musée est fermé le lundi.', word: /musée/i }],
  ['gl', { text: 'O museo está pechado os luns.', word: /museo/i }],
  ['it', { text: 'Il museo è chiuso il lunedì.', word: /museo/i }],
  ['pt', { text: 'O museu está fechado às segundas-feiras.', word: /museu/i }],
]);
/** For languages of other engines. */
const ANY_SENTENCE = { text: '1 2 3', word: /./ };
const LIMIT_MS = 60_000;

export interface CheckLine {
  readonly stage: string;
  readonly what: string;
  readonly engine: string;
  readonly ms: number;
  /** Undefined: it works. */
  readonly fault?: string;
  readonly result: string;
}

/** One line per language of recognition and speech, and per pair of translation, in this order. */
export async function checkEngines(engines: Engines): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  const signal = AbortSignal.timeout(LIMIT_MS);
  const attempt = async (
    line: Pick<CheckLine, 'stage' | 'what' | 'engine'>,
    work: () => Promise<{ readonly result: string; readonly isRight: boolean }>,
  ): Promise<void> => {
    const startedAt = performance.now();
    const took = (): number => Math.round(performance.now() - startedAt);
    try {
      const { result, isRight } = await work();
      lines.push({ ...line, ms: took(), result, ...(isRight ? {} : { fault: 'unexpected result' }) });
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      lines.push({ ...line, ms: took(), result: '', fault });
    }
  };

  for (const recognizer of engines.recognizers)
    for (const language of recognizer.languages)
      await attempt({ stage: 'asr', what: language, engine: recognizer.model }, async () => {
        const { text, word } = SENTENCES.get(language) ?? ANY_SENTENCE;
        const speech = await spoken(text, language, signal);
        const result = await recognizer.recognize(speech, language, signal);
        return { result, isRight: word.test(result) };
      });
  for (const translator of engines.translators)
    for (const pair of translator.pairs) {
      const { source, target, via } = pair;
      const what = via === undefined ? `${source}>${target}` : `${source}>${via}>${target}`;
      await attempt({ stage: 'nmt', what, engine: translator.model }, async () => {
        const { text } = SENTENCES.get(source) ?? ANY_SENTENCE;
        const result = await translator.translate(text, pair, signal);
        return { result, isRight: result !== '' && (result !== text || text === ANY_SENTENCE.text) };
      });
    }
  for (const synthesizer of engines.synthesizers)
    for (const language of synthesizer.languages)
      await attempt({ stage: 'tts', what: language, engine: synthesizer.model }, async () => {
        const pcm = await synthesizer.speak((SENTENCES.get(language) ?? ANY_SENTENCE).text, language, signal);
        const seconds = pcm.length / SAMPLE_RATE;
        return { result: `${seconds.toFixed(1)} s of speech`, isRight: pcm.some((sample) => sample !== 0) };
      });
  return lines;
}

/** Recognition is tested with speech that espeak-ng makes, whatever engine speaks for the node. */
async function spoken(text: string, language: string, signal: AbortSignal): Promise<Float32Array> {
  const voice = createEspeakSynthesizer();
  const pcm = await voice.speak(text, language, signal);
  return samplesOf(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
}

export function printCheck(lines: readonly CheckLine[]): string[] {
  const cells = lines.map(({ stage, what, engine, ms, fault, result }) => [
    stage,
    what,
    engine,
    `${ms} ms`,
    fault === undefined ? 'ok' : 'FAILED',
    fault === undefined ? result : `${fault}${result === '' ? '' : `: ${result}`}`,
  ]);
  const rows = [['stage', 'what', 'engine', 'time', 'state', 'result'], ...cells];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
