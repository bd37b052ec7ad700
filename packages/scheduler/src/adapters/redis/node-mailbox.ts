/** Jobs that wait for polling nodes, in the node's hash slot: any instance may put entries and hand them out. */
import type { NodeId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MailboxEntry, NodeMailbox } from '../../ports/node-mailbox.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { type Keys, NODE_IDLE_MS } from './keys.ts';
import { createArrivals } from './node-mailbox/arrivals.ts';
import { createDropEntry } from './node-mailbox/drop-entry.ts';
import { createPutEntry } from './node-mailbox/put-entry.ts';
import { createTakeEntries } from './node-mailbox/take-entries.ts';
import { createWaitingTakes } from './node-mailbox/waiting-takes.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';

export function createNodeMailbox<T>(deps: {
  connection: RedisConnection;
  /** For subscriptions to arrivals only. */
  subscriber: RedisConnection;
  keys: Keys;
  clock: Clock;
  maxPerNode: number;
  payload?: SealedPayload;
  /** The same as the ledger's, whose leases are extended here. */
  idleMs?: number;
}): NodeMailbox<T> {
  const { connection, subscriber, keys, clock, payload = PLAIN, idleMs = NODE_IDLE_MS } = deps;
  const putEntry = createPutEntry(connection, keys, deps.maxPerNode);
  const takeEntries = createTakeEntries(connection, keys, idleMs);
  const dropEntry = createDropEntry(connection, keys);
  const waiting = createWaitingTakes({ clock, arrivals: createArrivals({ subscriber, keys }) });

  /** The server gets a duration, not a time, because the clocks may differ. */
  const ttlUntil = (expiresAt: number): number => Math.ceil(expiresAt - clock.now());

  async function takeNow(
    nodeId: NodeId,
    max: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly MailboxEntry<T>[]> {
    const entries = await takeEntries(nodeId, max);
    const taken = entries.map(
      ({ jobId, body }) => ({ jobId, ...JSON.parse(payload.open(body)) }) as MailboxEntry<T>,
    );
    if (!isAborted(signal)) return taken;
    // The caller has aborted in between: the entries are put back at their positions.
    await Promise.all(
      entries.map(({ jobId, turn, body }, at) => {
        const { expiresAt, slot } = taken[at] as MailboxEntry<T>;
        return putEntry(nodeId, { jobId, turn, body, ttlMs: ttlUntil(expiresAt), slot });
      }),
    );
    return [];
  }

  return {
    put: (nodeId, { jobId, ...rest }) =>
      putEntry(nodeId, {
        jobId,
        body: payload.seal(JSON.stringify(rest)),
        ttlMs: ttlUntil(rest.expiresAt),
        slot: rest.slot,
      }),

    async take(nodeId, { max, waitMs, signal }) {
      if (isAborted(signal)) return [];
      const until = clock.now() + waitMs;
      const atOnce = await takeNow(nodeId, max, signal);
      if (atOnce.length > 0 || waitMs <= 0 || isAborted(signal)) return atOnce;
      const others = waiting.join(nodeId);
      try {
        for (;;) {
          const seen = others.arrivals();
          const taken = await takeNow(nodeId, max, signal);
          const leftMs = until - clock.now();
          if (taken.length > 0 || leftMs <= 0 || isAborted(signal)) return taken;
          if (others.arrivals() === seen) await others.arrival(leftMs, signal);
          if (isAborted(signal)) return [];
        }
      } finally {
        others.leave();
      }
    },

    drop: dropEntry,

    async forget(nodeId) {
      await asDependency('forgetting a mailbox', () =>
        connection.unlink(keys.nodeMailbox(nodeId), keys.nodeMailboxBodies(nodeId)),
      );
    },
  };
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;
