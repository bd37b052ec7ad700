/**
 * Keeps audio until its outcome, and decides what to send and what to send again after a loss. Pure: no clock, no
 * socket.
 */
import {
  concatenate,
  createEntry,
  ENTRY_BYTES,
  type Entry,
  type Frame,
  frameOf,
  isJoinable,
  isOpenEnd,
  isWhole,
  piecesOf,
  toSendOrder,
} from './outbox-entry.ts';
import type { UtteranceOptions } from './session-options.ts';

export interface OutboxLimits {
  /** Audio kept until its outcome. */
  readonly maxKeptBytes: number;
  /** Waiting chunks are joined up to this size. */
  readonly maxJoinedBytes: number;
  /** Utterances in flight at once: the scheduler fails the ones above its own limit. */
  readonly maxUtterancesInFlight: number;
}

/** The audio that a message of the scheduler is about. */
export interface NamedAudio {
  readonly utteranceIndex: number | undefined;
  readonly requestId: string | undefined;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
}

export interface Outbox {
  /** False: the outbox is full, and the chunk was not added. */
  addChunk(bytes: Uint8Array): boolean;
  /** The id of the utterance that ends here; undefined if none had begun. */
  endUtterance(): string | undefined;
  addUtterance(requestId: string, bytes: Uint8Array, options: UtteranceOptions): boolean;
  /**
   * A session has opened. Resumed: the scheduler still has what it accepted. Moved: its audio may be lost with
   * another instance. Otherwise the scheduler has nothing.
   */
  opened(isResumed: boolean, hasMoved?: boolean): void;
  hasFrames(): boolean;
  /** How long the next frame must wait for the outcome of earlier ones; Infinity: until the scheduler reports on them. */
  blockedMs(now: number): number;
  /** The next frame; it counts as sent from now on. Chunks are joined up to `maxBytes` at most. */
  take(now: number, maxBytes?: number): Frame | undefined;
  /** Returns the request id of the utterance, if known. */
  accepted(acceptance: NamedAudio & { readonly utteranceIndex: number }): string | undefined;
  /** The scheduler had no space for a chunk or utterance: it must be sent again. False: the entry is unknown. */
  refused(seq: number | undefined, requestId: string | undefined): boolean;
  /** The scheduler will never accept this audio, so it is dropped. Returns its request id; undefined: it is unknown. */
  rejected(audio: NamedAudio): string | undefined;
  /**
   * An outcome of the utterance has arrived; `lane` says which of several. False: it had arrived before, in a session that could not be
   * resumed, and the audio was sent again because another outcome was open.
   */
  answered(utteranceIndex: number, lane: string): boolean;
  /** The last outcome has arrived, so the audio of the utterance is dropped. Returns its request id, if known. */
  settled(utteranceIndex: number): string | undefined;
  requestIdOf(utteranceIndex: number): string | undefined;
  isEmpty(): boolean;
  /** Counted against the limit: audio plus a constant per entry. */
  keptBytes(): number;
  audioBytes(): number;
}

/** Utterances in flight: the accepted ones, and the send times of the ends that may be accepted. */
interface InFlight {
  readonly accepted: number;
  readonly ends: readonly number[];
}

/**
 * After this time an end that was sent but not accepted no longer counts as in flight: it may have been refused, or
 * have ended no utterance.
 */
export const ACCEPTED_WITHIN_MS = 5_000;
/** Remembered outcomes whose acceptance is unknown. */
const MAX_EARLY = 64;

export function createOutbox(limits: OutboxLimits, newRequestId: () => string): Outbox {
  /** In the order in which they were added; an entry stays until its outcome. */
  let entries: Entry[] = [];
  /** Entries to be sent on this connection. */
  let queue: Entry[] = [];
  let lastSeq = 0;
  let requestId = newRequestId();
  let hasBegun = false;
  /** The queue may contain accepted entries. */
  let hasToResend = false;
  let highestIndex = -1;
  let keptBytes = 0;
  /** Undefined: it must be counted again. Most chunks do not change it. */
  let inFlight: InFlight | undefined;
  const early = new Set<number>();

  function add(entry: Entry): void {
    entries.push(entry);
    queue.push(entry);
    keptBytes += entry.bytes.length + ENTRY_BYTES;
  }

  function remove(gone: ReadonlySet<Entry>): void {
    if (gone.size === 0) return;
    inFlight = undefined;
    entries = entries.filter((entry) => !gone.has(entry));
    queue = queue.filter((entry) => !gone.has(entry));
    for (const entry of gone) keptBytes -= entry.bytes.length + ENTRY_BYTES;
  }

  function countInFlight(): InFlight {
    const waiting = queue.length === 0 ? NONE : new Set(queue);
    const accepted = new Set<number>();
    const ends: number[] = [];
    for (const entry of entries) {
      if (entry.index !== undefined) accepted.add(entry.index);
      else if (entry.isFinal && entry.isSentInSession && !waiting.has(entry)) ends.push(entry.sentAt);
    }
    return { accepted: accepted.size, ends };
  }

  const hasRoomFor = (bytes: Uint8Array, count = 1): boolean =>
    keptBytes + bytes.length + count * ENTRY_BYTES <= limits.maxKeptBytes;

  const addChunk = (bytes: Uint8Array, isFinal: boolean): void => {
    lastSeq += 1;
    add(createEntry({ seq: lastSeq, requestId, bytes, isFinal }));
  };

  function covered({ utteranceIndex, requestId, firstSeq, lastSeq }: NamedAudio): Entry[] {
    // The session cannot have accepted an entry that was not sent in it.
    const given = entries.filter((entry) => entry.isSentInSession);
    if (firstSeq !== undefined && lastSeq !== undefined)
      return given.filter(({ seq }) => seq !== undefined && firstSeq <= seq && seq <= lastSeq);
    const whole = given.find((entry) =>
      requestId === undefined
        ? entry.seq === undefined && entry.proposedIndex === utteranceIndex
        : isWhole(entry, requestId),
    );
    if (whole !== undefined) return [whole];
    const chunks = given.filter((entry) => entry.requestId === requestId && entry.index === undefined);
    // Without its end we cannot know how much of the utterance was accepted: sending too much again does less harm.
    return chunks.some(({ isFinal }) => isFinal) ? chunks : [];
  }

  /** Ends without audio whose preceding audio was accepted: the scheduler has made the cut and will not answer them. */
  function redundantEnds(): ReadonlySet<Entry> {
    if (!entries.some(isOpenEnd)) return NONE;
    const open = new Set<string>();
    const idle = new Set<Entry>();
    for (const entry of entries) {
      if (entry.index !== undefined) continue;
      if (entry.bytes.length > 0) open.add(entry.requestId);
      else if (!open.has(entry.requestId)) idle.add(entry);
    }
    return idle;
  }

  /**
   * The same audio under the same request must be the same utterance, so the cuts are repeated where the scheduler
   * made them. Everything is sent in its original order, so that accepted utterances come before unaccepted audio.
   */
  function forgetSession(): void {
    // An end without audio is redundant where the cut is known: the cut is marked on the last audio before it.
    remove(new Set(entries.filter(({ index, bytes }) => index !== undefined && bytes.length === 0)));
    const chunks = entries.filter(({ seq }) => seq !== undefined);
    for (const [at, chunk] of chunks.entries()) {
      const next = chunks[at + 1];
      const isCut = chunk.index !== next?.index;
      if (chunk.index !== undefined) chunk.isFinal = isCut;
      else if (isCut && next?.index !== undefined) chunk.isFinal = true;
    }
    for (const entry of entries) {
      entry.index = undefined;
      entry.proposedIndex = undefined;
      entry.isSentInSession = false;
    }
    early.clear();
    highestIndex = -1;
  }

  function settled(utteranceIndex: number): string | undefined {
    highestIndex = Math.max(highestIndex, utteranceIndex);
    const at = entries.findIndex(({ index }) => index === utteranceIndex);
    if (at < 0) {
      early.add(utteranceIndex);
      if (early.size > MAX_EARLY) early.delete(early.values().next().value as number);
      return undefined;
    }
    const first = entries[at] as Entry;
    // Outcomes come in the order of utterances. Earlier entries of this session without an acceptance had their own
    // outcome or were refused with an error; only the acceptance was lost. A whole utterance overtakes chunks,
    // though.
    const isDone = (entry: Entry, position: number): boolean =>
      entry.index === utteranceIndex ||
      (position < at &&
        entry.index === undefined &&
        entry.isSentInSession &&
        (first.seq !== undefined || entry.seq === undefined));
    remove(new Set(entries.filter(isDone)));
    return first.requestId;
  }

  return {
    addChunk(bytes) {
      const pieces = piecesOf(bytes);
      if (!hasRoomFor(bytes, pieces.length)) return false;
      hasBegun = true;
      for (const piece of pieces) addChunk(piece, false);
      return true;
    },
    endUtterance() {
      if (!hasBegun) return undefined;
      const ended = requestId;
      const open = entries.filter((entry) => entry.requestId === ended && entry.index === undefined);
      const last = open.at(-1);
      // The scheduler ignores a repeated chunk, and would ignore an end on it.
      if (last !== undefined && !last.isSentInSession) last.isFinal = true;
      else if (last !== undefined) addChunk(new Uint8Array(0), true);
      hasBegun = false;
      requestId = newRequestId();
      return ended;
    },
    addUtterance(id, bytes, options) {
      if (!hasRoomFor(bytes)) return false;
      add(
        createEntry({ seq: undefined, requestId: id, bytes: new Uint8Array(bytes), isFinal: true, options }),
      );
      return true;
    },
    opened(isResumed, hasMoved = false) {
      inFlight = undefined;
      if (!isResumed) forgetSession();
      for (const entry of entries) entry.mustBeResent = hasMoved && entry.wasSent && entry.bytes.length > 0;
      queue = toSendOrder(entries);
      hasToResend = hasMoved;
    },
    hasFrames: () => queue.length > 0,
    blockedMs(now) {
      // Accepted entries, and those that must precede them, wait for no outcome.
      hasToResend &&= queue.some(({ index }) => index !== undefined);
      if (hasToResend) return 0;
      inFlight ??= countInFlight();
      const { accepted, ends } = inFlight;
      if (accepted + ends.length < limits.maxUtterancesInFlight) return 0;
      const counted = ends.filter((sentAt) => now - sentAt < ACCEPTED_WITHIN_MS);
      if (accepted + counted.length < limits.maxUtterancesInFlight) return 0;
      return Math.min(...counted) + ACCEPTED_WITHIN_MS - now;
    },
    take(now, maxBytes = limits.maxJoinedBytes) {
      const maxJoinedBytes = Math.min(maxBytes, limits.maxJoinedBytes);
      const joined = queue.splice(0, 1);
      let size = joined[0]?.bytes.length ?? 0;
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        size += next.bytes.length;
        if (size > maxJoinedBytes || !isJoinable(joined.at(-1), next)) break;
        joined.push(next);
        queue.shift();
      }
      const entry = joined.pop();
      if (entry === undefined) return undefined;
      if (joined.length > 0) {
        const bytes = concatenate([...joined, entry]);
        remove(new Set(joined));
        keptBytes += bytes.length - entry.bytes.length;
        entry.bytes = bytes;
      }
      if (entry.seq === undefined && entry.proposedIndex === undefined) {
        highestIndex += 1;
        entry.proposedIndex = highestIndex;
      }
      entry.wasSent = true;
      entry.isSentInSession = true;
      entry.mustBeResent = false;
      entry.sentAt = now;
      if (entry.isFinal) inFlight = undefined;
      return frameOf(entry);
    },
    accepted(acceptance) {
      const { utteranceIndex } = acceptance;
      highestIndex = Math.max(highestIndex, utteranceIndex);
      const taken = covered(acceptance);
      inFlight = undefined;
      for (const entry of taken) entry.index = utteranceIndex;
      queue = queue.filter(({ index, mustBeResent }) => index === undefined || mustBeResent);
      remove(redundantEnds());
      const found = taken[0]?.requestId ?? acceptance.requestId;
      if (taken.length > 0 && early.delete(utteranceIndex)) settled(utteranceIndex);
      return found;
    },
    refused(seq, requestId) {
      const entry = entries.find(
        (each) =>
          each.isSentInSession &&
          each.index === undefined &&
          (each.seq === undefined ? each.requestId === requestId : each.seq === seq),
      );
      if (entry === undefined) return false;
      entry.isSentInSession = false;
      inFlight = undefined;
      const again = new Set([...queue, entry]);
      queue = entries.filter((each) => again.has(each));
      return true;
    },
    rejected(audio) {
      const gone = covered(audio).filter(({ index }) => index === undefined);
      remove(new Set(gone));
      remove(redundantEnds());
      return gone[0]?.requestId;
    },
    answered(utteranceIndex, lane) {
      const own = entries.filter(({ index }) => index === utteranceIndex);
      const isNew = own.length === 0 || own.some(({ answered }) => !answered.has(lane));
      for (const { answered } of own) answered.add(lane);
      return isNew;
    },
    settled,
    requestIdOf: (utteranceIndex) => entries.find(({ index }) => index === utteranceIndex)?.requestId,
    isEmpty: () => entries.length === 0,
    keptBytes: () => keptBytes,
    audioBytes: () => entries.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

const NONE: ReadonlySet<Entry> = new Set();
