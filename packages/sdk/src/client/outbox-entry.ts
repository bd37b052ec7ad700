/** A piece of audio in the outbox, and the frame that carries it. */
import type { UtteranceOptions } from './session-options.ts';

export interface Entry {
  /** Undefined: a whole utterance instead of a chunk. */
  readonly seq: number | undefined;
  readonly requestId: string;
  readonly options: UtteranceOptions | undefined;
  /** The outcomes that have arrived, of several; also in earlier sessions. */
  readonly answered: Set<string>;
  bytes: Uint8Array;
  /** The utterance ends with this entry. */
  isFinal: boolean;
  /** The index with which this session accepted it. */
  index: number | undefined;
  /** The index with which a whole utterance was sent. */
  proposedIndex: number | undefined;
  /** In any session. */
  wasSent: boolean;
  isSentInSession: boolean;
  /** The session moved to another instance, which may lack the audio sent to the previous one. */
  mustBeResent: boolean;
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

/** Counted for each entry in addition to its audio, so that their number is bounded, too. */
export const ENTRY_BYTES = 64;

/** A chunk is kept in pieces of this size: every scheduler accepts a message with that much audio. */
const PIECE_BYTES = 16 * 1024;

/** Copies, because recorders reuse their buffers. slice() of a Buffer would not copy. */
export const piecesOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from(
    { length: Math.ceil(bytes.length / PIECE_BYTES) },
    (_, at) => new Uint8Array(bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES)),
  );

export const createEntry = (
  given: Pick<Entry, 'seq' | 'requestId' | 'bytes' | 'isFinal'> & { readonly options?: UtteranceOptions },
): Entry => ({
  ...given,
  options: given.options,
  answered: new Set(),
  index: undefined,
  proposedIndex: undefined,
  wasSent: false,
  isSentInSession: false,
  mustBeResent: false,
  sentAt: 0,
});

/** Joins only entries that were never sent: the scheduler may know a sent one by its seq, from any session. */
export const isJoinable = (entry: Entry | undefined, next: Entry): boolean =>
  entry?.seq !== undefined && next.seq !== undefined && entry.requestId === next.requestId && !entry.wasSent;

export const isWhole = (entry: Entry, requestId: string): boolean =>
  entry.seq === undefined && entry.requestId === requestId;

/** An end without audio, of an utterance whose index is unknown. */
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
 * The order of sending: first entries that the session accepted but lacks, together with earlier unaccepted ones,
 * then the rest. Outcomes come in this order, so earlier speech must be sent first; but a whole utterance overtakes
 * chunks.
 */
export function toSendOrder(entries: readonly Entry[]): Entry[] {
  const [first, rest]: [Entry[], Entry[]] = [[], []];
  let [isBeforeChunk, isBeforeAny] = [false, false];
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at] as Entry;
    const { seq, index, mustBeResent } = entry;
    if (index === undefined) (isBeforeChunk || (isBeforeAny && seq === undefined) ? first : rest).push(entry);
    else if (mustBeResent) {
      first.push(entry);
      isBeforeAny = true;
      isBeforeChunk ||= seq !== undefined;
    }
  }
  return [...first.reverse(), ...rest.reverse()];
}
