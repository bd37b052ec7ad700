/** Counts the outcomes of each utterance: with several target languages it has more than one. Pure. */
import type { ServerFrame } from './read-frame.ts';

export interface OutcomeCounter {
  /** `expected`: outcomes of each utterance. Resumed: earlier outcomes still count. */
  opened(isResumed: boolean, expected: number): void;
  /** Notes one outcome. True: the utterance has all of its outcomes. */
  isLast(utteranceIndex: number): boolean;
}

/** What session_init_ack says of the wanted languages: one text for each, and one voice for those that are spoken. */
export function expectedOutcomes({ tgt_langs: texts, voice_langs: voices }: ServerFrame): number {
  const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
  return Math.max(1, lengthOf(texts) + lengthOf(voices));
}

export function createOutcomeCounter(): OutcomeCounter {
  let expected = 1;
  const arrived = new Map<number, number>();
  return {
    opened(isResumed, now) {
      expected = now;
      if (!isResumed) arrived.clear();
    },
    isLast(utteranceIndex) {
      const count = (arrived.get(utteranceIndex) ?? 0) + 1;
      if (count < expected) arrived.set(utteranceIndex, count);
      else arrived.delete(utteranceIndex);
      return count >= expected;
    },
  };
}
