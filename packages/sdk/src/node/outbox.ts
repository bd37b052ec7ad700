/** Results on their way: kept until the scheduler is known to have read them, within bounds of number and bytes. */
import type { Link } from './link.ts';

export interface OutboxLimits {
  readonly maxResults: number;
  readonly maxBytes: number;
  /** No more is written to a socket that has this much unsent. */
  readonly maxBufferedBytes: number;
}

export interface OutboxCounts {
  /** Results not yet known to have arrived. */
  readonly kept: number;
  /** Results that were never sent, or were given up. */
  readonly dropped: number;
  /** Sent again after a loss of the connection. */
  readonly resent: number;
}

export interface Outbox {
  /** Takes a serialised result of a job, and sends it when it can. */
  post(jobId: string, text: string): void;
  /** The node is registered, maybe under a new id: everything kept goes out. */
  connected(nodeId: string): void;
  /** The connection is gone, and with it whatever was not confirmed. */
  lost(closeCode: number): void;
  /** A pong came. */
  confirmed(data: string): void;
  /** The scheduler drops messages: what it has not proved to have read is kept for later, and nothing is sent until then. */
  hold(): void;
  /** The time to hold back is over. */
  goOn(): void;
  /** Jobs whose result was not sent on this connection. */
  unsentJobIds(): string[];
  /** Jobs whose result may not have arrived. */
  keptJobIds(): string[];
  /** When nothing is kept any more, or the outbox is closed. */
  settled(): Promise<void>;
  /** Nothing more will be sent. */
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
/** A result that breaks the connection each time it is sent must not break it for ever. */
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
  let isHeld = false;
  let isAsking = false;
  /** A pong that was not ours came while ours is due; a second one means that ours is lost. */
  let isOvertaken = false;
  let mark = 0;
  let bytes = 0;
  let dropped = 0;
  let resent = 0;
  let waiters: (() => void)[] = [];

  function pump(): void {
    while (isConnected && !isHeld && unsent.length > 0 && link.bufferedBytes() <= limits.maxBufferedBytes) {
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
    // The protocol has no receipt for results. Frames are read in order, so a pong is one for all sent before its ping;
    // and when the socket was full, it says that there is room again.
    else if (isConnected && !isHeld && !isAsking) {
      isAsking = true;
      isOvertaken = false;
      link.ping(String(mark));
    }
  }

  function settle(): void {
    const told = waiters;
    waiters = [];
    for (const tell of told) tell();
  }

  function drop(entry: Entry, why: string): void {
    bytes -= entry.bytes;
    dropped += 1;
    deps.onDropped(entry.jobId, why);
  }

  function trim(): void {
    while (unsent.length + unconfirmed.length > limits.maxResults || bytes > limits.maxBytes) {
      const sent = unconfirmed.shift();
      // What was sent has most probably arrived: forgetting it loses the second try only.
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
      isHeld = false;
      if (knownAs !== undefined && knownAs !== nodeId) {
        for (const entry of unsent)
          entry.text = JSON.stringify({ ...JSON.parse(entry.text), node_id: nodeId });
      }
      knownAs = nodeId;
      pump();
    },
    lost(closeCode) {
      isConnected = false;
      isAsking = false;
      if (closeCode === MESSAGE_TOO_BIG && unconfirmed.length > 0) {
        const largest = unconfirmed.reduce((most, entry) => (entry.bytes > most.bytes ? entry : most));
        unconfirmed = unconfirmed.filter((entry) => entry !== largest);
        drop(largest, 'the scheduler finds it too long');
      }
      const again = unconfirmed.filter((entry) => entry.sends < MAX_SENDS);
      for (const entry of unconfirmed) {
        if (entry.sends >= MAX_SENDS) drop(entry, `it was sent ${entry.sends} times in vain`);
      }
      unconfirmed = [];
      unsent = [...again, ...unsent];
      if (unsent.length === 0) settle();
    },
    confirmed(data) {
      // Pings of the liveness check carry nothing.
      const upTo = data === '' ? Number.NaN : Number(data);
      if (!(upTo >= 0) && !(isAsking && isOvertaken)) {
        isOvertaken = isAsking;
        return;
      }
      isAsking = false;
      while (unconfirmed[0] !== undefined && unconfirmed[0].mark <= upTo) {
        bytes -= (unconfirmed.shift() as Entry).bytes;
      }
      pump();
    },
    hold() {
      isHeld = true;
      isAsking = false;
      unsent = [...unconfirmed, ...unsent];
      unconfirmed = [];
    },
    goOn() {
      isHeld = false;
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
