/** Keeps results until the scheduler has read them. Bounded in number and bytes. */
import type { Link } from './connection/link.ts';

export interface OutboxLimits {
  readonly maxResults: number;
  readonly maxBytes: number;
  /** Nothing is written to a socket with this much unsent data. */
  readonly maxBufferedBytes: number;
}

export interface OutboxCounts {
  /** Results whose delivery is unconfirmed. */
  readonly kept: number;
  /** Results that were dropped, sent or not. */
  readonly dropped: number;
  /** Sent again after a loss of the connection. */
  readonly resent: number;
}

export interface Outbox {
  /** Adds a serialised result, and sends it as soon as possible. */
  post(jobId: string, text: string): void;
  /** The node is registered, perhaps under a new id: sends all kept results. */
  connected(nodeId: string): void;
  /** The connection is lost; unconfirmed results must be sent again. */
  lost(closeCode: number): void;
  /** A pong arrived. */
  confirmed(data: string): void;
  /** The scheduler drops messages: unconfirmed results are kept, and nothing is sent until `resume`. */
  pause(): void;
  /** Sends again after `pause`. */
  resume(): void;
  /** Jobs whose result was not sent on this connection. */
  unsentJobIds(): string[];
  /** Jobs whose result may be undelivered. */
  keptJobIds(): string[];
  /** Resolves when no result is kept, or the outbox is closed. */
  settled(): Promise<void>;
  /** Sends no more. */
  close(): void;
  counts(): OutboxCounts;
}

interface Entry {
  readonly jobId: string;
  text: string;
  readonly bytes: number;
  sends: number;
  mark: number;
}

const MESSAGE_TOO_BIG = 1009;
/** A result that breaks the connection each time it is sent is dropped after this many sends. */
const MAX_SENDS = 5;

export function createOutbox(deps: {
  readonly link: Pick<Link, 'send' | 'ping' | 'bufferedBytes'>;
  readonly limits: OutboxLimits;
  readonly onDropped: (jobId: string, why: string) => void;
}): Outbox {
  const { link, limits } = deps;
  let unsent: Entry[] = [];
  let unconfirmed: Entry[] = [];
  let knownAs: string | undefined;
  let isConnected = false;
  let isPaused = false;
  let isPingPending = false;
  /** A foreign pong arrived while ours is pending; after a second one ours is considered lost. */
  let hasForeignPong = false;
  let mark = 0;
  let bytes = 0;
  let dropped = 0;
  let resent = 0;
  let waiters: (() => void)[] = [];

  function pump(): void {
    while (isConnected && !isPaused && unsent.length > 0 && link.bufferedBytes() <= limits.maxBufferedBytes) {
      const entry = unsent[0] as Entry;
      if (!link.send(entry.text)) break;
      unsent.shift();
      if (entry.sends > 0) resent += 1;
      entry.sends += 1;
      mark += 1;
      entry.mark = mark;
      unconfirmed.push(entry);
    }
    if (unsent.length + unconfirmed.length === 0) settle();
    // The protocol does not confirm results. Frames are read in order, so a pong confirms everything sent before its
    // ping; after a full socket it also shows that there is space again.
    else if (isConnected && !isPaused && !isPingPending) {
      isPingPending = true;
      hasForeignPong = false;
      link.ping(String(mark));
    }
  }

  function settle(): void {
    const resolvers = waiters;
    waiters = [];
    for (const resolve of resolvers) resolve();
  }

  function drop(entry: Entry, why: string): void {
    bytes -= entry.bytes;
    dropped += 1;
    deps.onDropped(entry.jobId, why);
  }

  function trim(): void {
    while (unsent.length + unconfirmed.length > limits.maxResults || bytes > limits.maxBytes) {
      const sent = unconfirmed.shift();
      // A sent result has probably arrived: dropping it only loses the second try.
      if (sent !== undefined) bytes -= sent.bytes;
      else {
        const oldest = unsent.shift();
        if (oldest === undefined) return;
        drop(oldest, 'too many results are kept');
      }
    }
  }

  return {
    post(jobId, text) {
      const entry = { jobId, text, bytes: Buffer.byteLength(text), sends: 0, mark: 0 };
      unsent.push(entry);
      bytes += entry.bytes;
      pump();
      trim();
    },
    connected(nodeId) {
      isConnected = true;
      isPaused = false;
      if (knownAs !== undefined && knownAs !== nodeId) {
        for (const entry of unsent)
          entry.text = JSON.stringify({ ...JSON.parse(entry.text), node_id: nodeId });
      }
      knownAs = nodeId;
      pump();
    },
    lost(closeCode) {
      isConnected = false;
      isPingPending = false;
      if (closeCode === MESSAGE_TOO_BIG && unconfirmed.length > 0) {
        const largest = unconfirmed.reduce((most, entry) => (entry.bytes > most.bytes ? entry : most));
        unconfirmed = unconfirmed.filter((entry) => entry !== largest);
        drop(largest, 'the scheduler rejects it as too long');
      }
      const again = unconfirmed.filter((entry) => entry.sends < MAX_SENDS);
      for (const entry of unconfirmed) {
        if (entry.sends >= MAX_SENDS) drop(entry, `it was sent ${entry.sends} times without success`);
      }
      unconfirmed = [];
      unsent = [...again, ...unsent];
      if (unsent.length === 0) settle();
    },
    confirmed(data) {
      // Pings of the liveness check carry no data.
      const upTo = data === '' ? Number.NaN : Number(data);
      if (!(upTo >= 0) && !(isPingPending && hasForeignPong)) {
        hasForeignPong = isPingPending;
        return;
      }
      isPingPending = false;
      while (unconfirmed[0] !== undefined && unconfirmed[0].mark <= upTo) {
        bytes -= (unconfirmed.shift() as Entry).bytes;
      }
      pump();
    },
    pause() {
      isPaused = true;
      isPingPending = false;
      unsent = [...unconfirmed, ...unsent];
      unconfirmed = [];
    },
    resume() {
      isPaused = false;
      pump();
    },
    unsentJobIds: () => unsent.map((entry) => entry.jobId),
    keptJobIds: () => [...unconfirmed, ...unsent].map((entry) => entry.jobId),
    settled: () =>
      unsent.length + unconfirmed.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => waiters.push(resolve)),
    close() {
      isConnected = false;
      settle();
    },
    counts: () => ({ kept: unsent.length + unconfirmed.length, dropped, resent }),
  };
}
