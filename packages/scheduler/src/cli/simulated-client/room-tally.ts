/** The captions of one room as each person got them: none may be lost, doubled or out of order. No clock, no I/O. */
import { createBoundedMap } from '../../domain/bounded-map.ts';

export type CaptionVerdict = 'good' | 'doubled' | 'out_of_order';

/** What a person said, by the outcomes of its own session. */
export interface SpokenCounts {
  /** Or the cuts that the scheduler made of them. */
  readonly utterances: number;
  /** Those with a recognised text. */
  readonly results: number;
}

export interface LanguageCounts {
  readonly language: string;
  readonly listeners: number;
  /** For each listener: what the others said and the scheduler recognised. */
  readonly promised: number;
  /** With their last text. */
  readonly received: number;
  /** Final only after the last caption has arrived. */
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
}

/** Captions of one listener that are kept to detect repeats. */
const REMEMBERED = 1_000;

/** `languages`: what each person hears. People are named by their position. */
export function createRoomTally(languages: readonly string[]) {
  const listeners = languages.map((language) => ({
    language,
    /** By speaker. */
    shown: languages.map(() => 0),
    final: languages.map(() => 0),
    /** Whether the caption was final. */
    seen: createBoundedMap<number, boolean>({ max: REMEMBERED }),
    highestSeq: -1,
    doubled: 0,
    outOfOrder: 0,
  }));

  return {
    caption(
      listener: number,
      {
        seq,
        speaker,
        isFinal,
      }: { readonly seq: number; readonly speaker: number; readonly isFinal: boolean },
    ): CaptionVerdict {
      const heard = listeners[listener];
      if (heard === undefined) throw new Error(`there is no person ${listener}`);
      const before = heard.seen.get(seq);
      if (before === true || (before === false && !isFinal)) {
        heard.doubled += 1;
        return 'doubled';
      }
      heard.seen.set(seq, isFinal);
      if (isFinal) bump(heard.final, speaker);
      // A correction replaces a caption that is shown already: its place is that of the first.
      if (before === false) return 'good';
      bump(heard.shown, speaker);
      if (seq < heard.highestSeq) {
        heard.outOfOrder += 1;
        return 'out_of_order';
      }
      heard.highestSeq = seq;
      return 'good';
    },

    /** `spoken`: by each person. */
    counts(spoken: readonly SpokenCounts[]): readonly LanguageCounts[] {
      const promised = spoken.map(({ utterances, results }, speaker) => {
        // What one listener got was promised to all, even if the speaker has no result for it.
        const shown = Math.max(...listeners.map((heard) => heard.shown[speaker] ?? 0));
        return Math.min(utterances, Math.max(results, shown));
      });
      return [...new Set(languages)].map((language) => {
        const total = { listeners: 0, promised: 0, received: 0, lost: 0, doubled: 0, outOfOrder: 0 };
        for (const [listener, heard] of listeners.entries()) {
          if (heard.language !== language) continue;
          total.listeners += 1;
          total.doubled += heard.doubled;
          total.outOfOrder += heard.outOfOrder;
          for (const [speaker, { utterances }] of spoken.entries()) {
            if (speaker === listener) continue;
            const due = promised[speaker] ?? 0;
            const final = heard.final[speaker] ?? 0;
            total.promised += due;
            total.received += Math.min(final, due);
            total.lost += Math.max(0, due - final);
            // More captions than utterances: one utterance has two numbers in the room.
            total.doubled += Math.max(0, (heard.shown[speaker] ?? 0) - utterances);
          }
        }
        return { language, ...total };
      });
    },
  };
}

const bump = (counts: number[], at: number): void => {
  counts[at] = (counts[at] ?? 0) + 1;
};

export const areFaultless = (counts: readonly LanguageCounts[]): boolean =>
  counts.every(({ lost, doubled, outOfOrder }) => lost + doubled + outOfOrder === 0);
