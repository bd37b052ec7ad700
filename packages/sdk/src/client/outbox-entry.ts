/** A piece of audio in the outbox, and the frame that carries it. */
import type { UtteranceOptions } from './session-options.ts';

export interface Entry {
  /** Undefined: a whole utterance and no chunk. */
  readonly seq: number | undefined;
  readonly requestId: string;
  readonly options: UtteranceOptions | undefined;
  bytes: Uint8Array;
  /** The utterance ends with it. */
  isFinal: boolean;
  /** The utterance of this session that it was accepted as. */
  index: number | undefined;
  /** The index a whole utterance was sent with. */
  proposedIndex: number | undefined;
  /** In any session. */
  wasSent: boolean;
  /** Sent in this session. */
  isGiven: boolean;
  /** The session moved to another instance, which may need what the one before was sent. */
  isOwed: boolean;
  sentAt: number;
}

export type Frame =
  | {
      readonly kind: 'chunk';
      readonly seq: number;
      readonly requestId: string;
      readonly isFinal: boolean;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'utterance';
      readonly utteranceIndex: number;
      readonly requestId: string;
      readonly bytes: Uint8Array;
      readonly options: UtteranceOptions;
    };

/** Counted for each entry besides its audio, so that their number is bounded too. */
export const ENTRY_BYTES = 64;

export const createEntry = (
  given: Pick<Entry, 'seq' | 'requestId' | 'bytes' | 'isFinal'> & { readonly options?: UtteranceOptions },
): Entry => ({
  ...given,
  options: given.options,
  index: undefined,
  proposedIndex: undefined,
  wasSent: false,
  isGiven: false,
  isOwed: false,
  sentAt: 0,
});

/** Only what was never sent, and with it nothing after it: the scheduler may have a sent one by its own seq, from any session. */
export const isJoinable = (entry: Entry | undefined, next: Entry): boolean =>
  entry?.seq !== undefined && next.seq !== undefined && entry.requestId === next.requestId && !entry.wasSent;

export const isWhole = (entry: Entry, requestId: string): boolean =>
  entry.seq === undefined && entry.requestId === requestId;

/** An end without audio, and nobody has said which utterance it ends. */
export const isOpenEnd = ({ index, bytes }: Entry): boolean => index === undefined && bytes.length === 0;

export function concatenate(entries: readonly Entry[]): Uint8Array {
  const all = new Uint8Array(entries.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of entries) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

export function frameOf({ seq, requestId, isFinal, bytes, proposedIndex = 0, options }: Entry): Frame {
  return seq === undefined
    ? { kind: 'utterance', utteranceIndex: proposedIndex, requestId, bytes, options: options ?? {} }
    : { kind: 'chunk', seq, requestId, isFinal, bytes };
}

/**
 * What a session has to be sent: first what it accepted and does not have, with what was said before that and waits to be accepted,
 * then the rest. Its order is that of the outcomes, so what was said first must come first; but a whole utterance overtakes chunks.
 */
export function inOrderOfNeed(entries: readonly Entry[]): Entry[] {
  const [first, rest]: [Entry[], Entry[]] = [[], []];
  let [isBeforeChunk, isBeforeAny] = [false, false];
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at] as Entry;
    const { seq, index, isOwed } = entry;
    if (index === undefined) (isBeforeChunk || (isBeforeAny && seq === undefined) ? first : rest).push(entry);
    else if (isOwed) {
      first.push(entry);
      isBeforeAny = true;
      isBeforeChunk ||= seq !== undefined;
    }
  }
  return [...first.reverse(), ...rest.reverse()];
}
