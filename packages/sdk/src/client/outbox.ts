/** Audio until its outcome: what is kept, what has to be sent, and what again after a loss. Pure: no clock, no socket. */
import {
  concatenate,
  createEntry,
  ENTRY_BYTES,
  type Entry,
  type Frame,
  frameOf,
  inOrderOfNeed,
  isJoinable,
  isOpenEnd,
  isWhole,
} from './outbox-entry.ts';
import type { UtteranceOptions } from './session-options.ts';

export interface OutboxLimits {
  /** Audio kept until its outcome. */
  readonly maxKeptBytes: number;
  /** Chunks that wait are joined up to this. */
  readonly maxJoinedBytes: number;
  /** Utterances without outcome that the scheduler may have at once: it fails those that are too many. */
  readonly maxUtterancesInFlight: number;
}

export interface Acceptance {
  readonly utteranceIndex: number;
  readonly requestId: string | undefined;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
}

export interface Outbox {
  /** False: there is no room, and nothing was taken. */
  addChunk(bytes: Uint8Array): boolean;
  /** The id of the utterance that ends here; undefined if none had begun. */
  endUtterance(): string | undefined;
  addUtterance(requestId: string, bytes: Uint8Array, options: UtteranceOptions): boolean;
  /**
   * A session is there. Resumed: the scheduler still has what it accepted; moved: its audio is perhaps lost with another instance.
   * Otherwise it has nothing.
   */
  opened(isResumed: boolean, hasMoved?: boolean): void;
  hasFrames(): boolean;
  /** How long the next frame has to wait for the fate of earlier ones; Infinity: until something is heard of them. */
  blockedMs(now: number): number;
  /** The next frame, which counts as sent from now on. */
  take(now: number): Frame | undefined;
  /** Returns the request it is about, if known. */
  accepted(acceptance: Acceptance): string | undefined;
  /** The scheduler had no room for a chunk or a whole utterance: it has to be sent again. False: it is not known. */
  refused(seq: number | undefined, requestId: string | undefined): boolean;
  /** The outcome is there: the audio of the utterance is not needed any more. Returns the request it was about, if known. */
  settled(utteranceIndex: number): string | undefined;
  requestIdOf(utteranceIndex: number): string | undefined;
  isEmpty(): boolean;
  /** Against the limit; a little is counted for each piece besides its audio. */
  keptBytes(): number;
  audioBytes(): number;
}

/** Utterances that the scheduler has: those it accepted, and when the ends of those that it may have were sent. */
interface InFlight {
  readonly accepted: number;
  readonly ends: readonly number[];
}

/** An end that was sent and not accepted stops to count as in flight: it may have been refused, or have ended nothing. */
export const ACCEPTED_WITHIN_MS = 5_000;
/** Outcomes without a known acceptance that are remembered. */
const MOST_EARLY = 64;

export function createOutbox(limits: OutboxLimits, newRequestId: () => string): Outbox {
  /** In the order in which they were given; nothing leaves before its outcome. */
  let entries: Entry[] = [];
  /** Those to be sent on this connection. */
  let queue: Entry[] = [];
  let lastSeq = 0;
  let requestId = newRequestId();
  let hasBegun = false;
  /** Something that was accepted may be among those to be sent. */
  let hasOwed = false;
  let highestIndex = -1;
  let keptBytes = 0;
  /** Undefined: it has changed since it was counted. It does not with every piece of audio. */
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
      else if (entry.isFinal && entry.isGiven && !waiting.has(entry)) ends.push(entry.sentAt);
    }
    return { accepted: accepted.size, ends };
  }

  const hasRoomFor = (bytes: Uint8Array): boolean =>
    keptBytes + bytes.length + ENTRY_BYTES <= limits.maxKeptBytes;

  const addChunk = (bytes: Uint8Array, isFinal: boolean): void => {
    lastSeq += 1;
    add(createEntry({ seq: lastSeq, requestId, bytes, isFinal }));
  };

  function covered({ utteranceIndex, requestId, firstSeq, lastSeq }: Acceptance): Entry[] {
    // What this session was never given, it cannot have accepted.
    const given = entries.filter((entry) => entry.isGiven);
    if (firstSeq !== undefined && lastSeq !== undefined)
      return given.filter(({ seq }) => seq !== undefined && firstSeq <= seq && seq <= lastSeq);
    const whole = given.find((entry) =>
      requestId === undefined ? entry.proposedIndex === utteranceIndex : isWhole(entry, requestId),
    );
    if (whole !== undefined) return [whole];
    const chunks = given.filter((entry) => entry.requestId === requestId && entry.index === undefined);
    // Without its end we cannot know how much of the utterance was meant: to send too much again is the lesser evil.
    return chunks.some(({ isFinal }) => isFinal) ? chunks : [];
  }

  /** Ends without audio of which all audio before was accepted: the cut is made, nobody will answer them. */
  function idleEnds(): ReadonlySet<Entry> {
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
   * The cuts are made again where the scheduler made them: the same audio under the same request must be the same utterance.
   * All is sent in its old order, so that accepted utterances come before what was not.
   */
  function forgetSession(): void {
    // Ends without audio are not needed where a cut is known: it goes with the last audio before it.
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
      entry.isGiven = false;
    }
    early.clear();
    highestIndex = -1;
  }

  function settled(utteranceIndex: number): string | undefined {
    highestIndex = Math.max(highestIndex, utteranceIndex);
    const at = entries.findIndex(({ index }) => index === utteranceIndex);
    if (at < 0) {
      early.add(utteranceIndex);
      if (early.size > MOST_EARLY) early.delete(early.values().next().value as number);
      return undefined;
    }
    const first = entries[at] as Entry;
    // Outcomes come in the order of utterances. What this session was given before, and never heard of, had its own
    // outcome or was refused with an error; only the acceptance was lost. A whole utterance overtakes chunks, though.
    const isDone = (entry: Entry, position: number): boolean =>
      entry.index === utteranceIndex ||
      (position < at &&
        entry.index === undefined &&
        entry.isGiven &&
        (first.seq !== undefined || entry.seq === undefined));
    remove(new Set(entries.filter(isDone)));
    return first.requestId;
  }

  return {
    addChunk(bytes) {
      if (!hasRoomFor(bytes)) return false;
      hasBegun = true;
      // A copy: recorders use their buffers again. slice() of a Buffer would be none.
      addChunk(new Uint8Array(bytes), false);
      return true;
    },
    endUtterance() {
      if (!hasBegun) return undefined;
      const ended = requestId;
      const open = entries.filter((entry) => entry.requestId === ended && entry.index === undefined);
      const last = open.at(-1);
      // The scheduler ignores a chunk that it has seen, and so would it an end on it.
      if (last !== undefined && !last.isGiven) last.isFinal = true;
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
      for (const entry of entries) entry.isOwed = hasMoved && entry.wasSent && entry.bytes.length > 0;
      queue = inOrderOfNeed(entries);
      hasOwed = hasMoved;
    },
    hasFrames: () => queue.length > 0,
    blockedMs(now) {
      // What was accepted waits for no outcome, nor does what has to go before it.
      hasOwed &&= queue.some(({ index }) => index !== undefined);
      if (hasOwed) return 0;
      inFlight ??= countInFlight();
      const { accepted, ends } = inFlight;
      if (accepted + ends.length < limits.maxUtterancesInFlight) return 0;
      const counted = ends.filter((sentAt) => now - sentAt < ACCEPTED_WITHIN_MS);
      if (accepted + counted.length < limits.maxUtterancesInFlight) return 0;
      return Math.min(...counted) + ACCEPTED_WITHIN_MS - now;
    },
    take(now) {
      const joined = queue.splice(0, 1);
      let size = joined[0]?.bytes.length ?? 0;
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        size += next.bytes.length;
        if (size > limits.maxJoinedBytes || !isJoinable(joined.at(-1), next)) break;
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
      entry.isGiven = true;
      entry.isOwed = false;
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
      queue = queue.filter(({ index, isOwed }) => index === undefined || isOwed);
      remove(idleEnds());
      const found = taken[0]?.requestId ?? acceptance.requestId;
      if (taken.length > 0 && early.delete(utteranceIndex)) settled(utteranceIndex);
      return found;
    },
    refused(seq, requestId) {
      const entry = entries.find(
        (each) =>
          each.isGiven &&
          each.index === undefined &&
          (each.seq === undefined ? each.requestId === requestId : each.seq === seq),
      );
      if (entry === undefined) return false;
      entry.isGiven = false;
      inFlight = undefined;
      const again = new Set([...queue, entry]);
      queue = entries.filter((each) => again.has(each));
      return true;
    },
    settled,
    requestIdOf: (utteranceIndex) => entries.find(({ index }) => index === utteranceIndex)?.requestId,
    isEmpty: () => entries.length === 0,
    keptBytes: () => keptBytes,
    audioBytes: () => entries.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

const NONE: ReadonlySet<Entry> = new Set();
