/**
 * The scheduler side of an outbox in memory: sessions that seal, accept and answer as in the protocol, over lossy
 * connections.
 */
import type { NamedAudio, Outbox } from '../../../src/client/outbox.ts';
import type { Frame } from '../../../src/client/outbox-entry.ts';

/** Two bytes of audio, different for each id. */
export const token = (id: number): Uint8Array => new Uint8Array([id >> 8, id & 255]);

export const tokensOf = (bytes: Uint8Array): number[] =>
  Array.from({ length: bytes.length / 2 }, (_, at) => (bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0));

interface Sealed {
  readonly acceptance: NamedAudio & { readonly utteranceIndex: number };
  readonly tokens: readonly number[];
  isAnswered: boolean;
  isHeard: boolean;
}

type Received = { readonly kind: 'accepted' | 'outcome'; readonly sealed: Sealed };
type Chunk = Extract<Frame, { kind: 'chunk' }>;

interface ServerSession {
  readonly sealed: Sealed[];
  buffer: Chunk[];
  highestSeq: number;
  readonly requests: Set<string>;
}

const newSession = (): ServerSession => ({ sealed: [], buffer: [], highestSeq: 0, requests: new Set() });

export interface ModelScheduler {
  /** The outbox sends one frame. */
  take(): void;
  /** The scheduler reads one frame. */
  read(): void;
  /** The scheduler cuts at a pause. */
  cut(): void;
  /** The next utterance gets its outcome. */
  answer(): void;
  /** The client receives one message. */
  hear(): void;
  /** The connection breaks and another one opens; `hasMoved`: on an instance that has the session, but not its audio. */
  reconnect(isResumed: boolean, hasMoved?: boolean): void;
  /** Runs until nothing more happens. */
  drain(): void;
  /** Tokens whose outcome the client received, in that order. */
  readonly heard: number[];
  /** Violations of the protocol. */
  readonly complaints: string[];
}

export function createModelScheduler(
  outbox: Outbox,
  { repeatsAcceptances }: { readonly repeatsAcceptances: boolean },
): ModelScheduler {
  let session = newSession();
  let up: Frame[] = [];
  let down: Received[] = [];
  let now = 0;
  let lastSeq = 0;
  let sentHere = new Set<number>();
  let knownHere = new Set<number>();
  /** Accepted by another instance and without an outcome: must be sent again. */
  const owed = new Set<number>();
  const sentEver = new Set<number>();
  /** Sent to the previous instance: may be sent again in any case. */
  let sentElsewhere = new Set<number>();
  /** Tokens after which this client knows a cut, and those inside a known utterance. */
  let mustEnd = new Set<number>();
  let mustNotEnd = new Set<number>();
  const heard: number[] = [];
  const complaints: string[] = [];

  function seal(frames: readonly Frame[]): void {
    const [first] = frames;
    if (first === undefined) return;
    const seqs = frames.flatMap((frame) => (frame.kind === 'chunk' ? [frame.seq] : []));
    const sealed: Sealed = {
      acceptance: {
        utteranceIndex: session.sealed.length,
        requestId: first.requestId,
        firstSeq: seqs[0],
        lastSeq: seqs.at(-1),
      },
      tokens: frames.flatMap(({ bytes }) => tokensOf(bytes)),
      isAnswered: false,
      isHeard: false,
    };
    session.sealed.push(sealed);
    down.push({ kind: 'accepted', sealed });
  }

  function cut(): void {
    // An end without audio makes no utterance.
    if (session.buffer.some(({ bytes }) => bytes.length > 0)) seal(session.buffer);
    session.buffer = [];
  }

  /** The last cut counts: in another session the scheduler may have cut at another place. */
  function noteCuts(tokens: readonly number[]): void {
    for (const each of tokens) {
      mustNotEnd.add(each);
      mustEnd.delete(each);
    }
    const last = tokens.at(-1) ?? -1;
    mustNotEnd.delete(last);
    mustEnd.add(last);
  }

  function inspect(frame: Frame): void {
    if (frame.kind === 'chunk') {
      if (frame.seq <= lastSeq) complaints.push(`seq ${frame.seq} after ${lastSeq}`);
      lastSeq = frame.seq;
    }
    const tokens = tokensOf(frame.bytes);
    for (const each of tokens) {
      if (heard.includes(each)) complaints.push(`${each} was sent after its outcome`);
      if (knownHere.has(each) && !sentElsewhere.has(each))
        complaints.push(`${each} was sent after its acceptance`);
      if (sentHere.has(each)) complaints.push(`${each} was sent twice on one connection`);
      sentHere.add(each);
      sentEver.add(each);
      owed.delete(each);
    }
    const end = tokens.at(-1);
    if (frame.kind === 'chunk' && end !== undefined && !sentElsewhere.has(end)) {
      if (mustEnd.has(end) && !frame.isFinal) complaints.push(`the cut after ${end} was forgotten`);
      if (mustNotEnd.has(end) && frame.isFinal) complaints.push(`a new cut after ${end}`);
    }
  }

  const scheduler = {
    heard,
    complaints,
    take() {
      now += 10;
      const frame = outbox.take(now);
      if (frame === undefined) return;
      inspect(frame);
      up.push(frame);
    },
    read() {
      const frame = up.shift();
      if (frame === undefined) return;
      if (frame.kind === 'utterance') {
        if (!session.requests.has(frame.requestId)) seal([frame]);
        session.requests.add(frame.requestId);
      } else if (frame.seq > session.highestSeq) {
        session.highestSeq = frame.seq;
        session.buffer.push(frame);
        if (frame.isFinal) cut();
      }
    },
    cut,
    answer() {
      const sealed = session.sealed.find(({ isAnswered }) => !isAnswered);
      if (sealed === undefined) return;
      sealed.isAnswered = true;
      down.push({ kind: 'outcome', sealed });
    },
    hear() {
      const received = down.shift();
      if (received === undefined) return;
      const { acceptance, tokens } = received.sealed;
      if (received.kind === 'accepted') {
        outbox.accepted(acceptance);
        for (const each of tokens) knownHere.add(each);
        if (acceptance.firstSeq !== undefined) noteCuts(tokens);
      } else {
        outbox.settled(acceptance.utteranceIndex);
        received.sealed.isHeard = true;
        heard.push(...tokens);
        for (const each of tokens) owed.delete(each);
      }
    },
    reconnect(isResumed: boolean, hasMoved = false) {
      up = [];
      lastSeq = 0;
      sentHere = new Set();
      const unheard = session.sealed.filter(({ isHeard }) => !isHeard);
      if (isResumed) {
        const again = repeatsAcceptances ? unheard : [];
        down = [
          ...again.map((sealed): Received => ({ kind: 'accepted', sealed })),
          ...unheard
            .filter(({ isAnswered }) => isAnswered)
            .map((sealed): Received => ({ kind: 'outcome', sealed })),
        ];
      } else {
        session = newSession();
        down = [];
        knownHere = new Set();
      }
      owed.clear();
      sentElsewhere = new Set(hasMoved ? sentEver : []);
      if (hasMoved) {
        for (const each of knownHere) if (!heard.includes(each)) owed.add(each);
        knownHere = new Set();
      }
      outbox.opened(isResumed, hasMoved);
      // Cuts are checked only while everything is resent: later the scheduler may cut at other places.
      if (isResumed) {
        mustEnd = new Set();
        mustNotEnd = new Set();
      }
    },
    drain() {
      const isBusy = (): boolean => outbox.hasFrames() || up.length > 0 || down.length > 0;
      do {
        while (outbox.hasFrames()) scheduler.take();
        while (up.length > 0) scheduler.read();
        cut();
        while (session.sealed.some(({ isAnswered }) => !isAnswered)) scheduler.answer();
        while (down.length > 0) scheduler.hear();
      } while (isBusy());
      for (const each of owed) complaints.push(`${each} was not sent again`);
    },
  };
  return scheduler;
}
