/** Simulation: the texts and voices that a client wants of one utterance. Each is a request of its own in the history. */
import type { Part, Recorder } from '../history.ts';

export const requestOfPart = (
  utterance: string,
  { language, kind }: Pick<Part, 'language' | 'kind'>,
): string => `${utterance}/${laneOf(language, kind)}`;

export const laneOf = (language: string, kind: Part['kind']): string =>
  kind === 'voice' ? `${language}/voice` : language;

export function partsOf(
  utterance: string,
  input: Part['input'],
  languages: readonly string[],
  voices: readonly string[],
): readonly Part[] {
  const parts = (kind: Part['kind'], all: readonly string[]): Part[] =>
    all.map((language) => ({ utterance, language, kind, input }));
  return [...parts('text', languages), ...parts('voice', voices)];
}

export function recordAsked(
  { record }: Recorder,
  parts: readonly Part[],
  about: {
    readonly client: string;
    readonly words: string;
    readonly tenant: string;
    readonly pool?: string | undefined;
  },
): void {
  const { client, words, tenant, pool } = about;
  for (const part of parts)
    record({
      kind: 'asked',
      client,
      request: requestOfPart(part.utterance, part),
      words,
      tenant,
      ...(pool !== undefined && { pool }),
      part,
    });
}
