/** Simulation: jobs that wait for nodes which poll, on the node's shard: any instance may put, any other hand out. */
import type { JobId, NodeId } from '../../../scheduler/dist/domain/ids.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import type { MailboxEntry, NodeMailbox, Slot } from '../../../scheduler/dist/ports/node-mailbox.js';
import { marksOf, noteCommitted, sweep } from './leases.ts';
import { createArrivals } from './mailbox-arrivals.ts';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import type { WaitingEntry } from './servers/shard-state.ts';
import { keys, tags } from './servers/tags.ts';

interface Taken {
  readonly jobId: JobId;
  readonly turn: number;
  readonly body: unknown;
}

export function createNodeMailbox<T>(deps: {
  lines: Lines;
  clock: Clock;
  maxPerNode: number;
  idleMs: number;
}): NodeMailbox<T> {
  const { lines, clock, maxPerNode, idleMs } = deps;
  const arrivals = createArrivals({ lines, clock });

  const putEntry = (nodeId: NodeId, entry: Taken & { readonly ttlMs: number }): Promise<'queued' | 'full'> =>
    lines.ask(tags.node(nodeId), 'put-entry', (shard) => put(shard, nodeId, entry, maxPerNode));

  /** A duration goes to the server, not an instant: their clocks need not agree. */
  const ttlUntil = (expiresAt: number): number => Math.ceil(expiresAt - clock.now());

  async function takeNow(
    nodeId: NodeId,
    max: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly MailboxEntry<T>[]> {
    const taken = await lines.ask(tags.node(nodeId), 'take-entries', (shard) =>
      take(shard, nodeId, max, idleMs),
    );
    const entries = taken.map(({ body }) => body as MailboxEntry<T>);
    if (!isAborted(signal)) return entries;
    // The caller aborted in the meantime: put the entries back.
    await Promise.all(
      taken.map((each, at) => putEntry(nodeId, { ...each, ttlMs: ttlUntil(entries[at]?.expiresAt ?? 0) })),
    );
    return [];
  }

  return {
    put: (nodeId, entry) =>
      putEntry(nodeId, { jobId: entry.jobId, turn: LAST, body: entry, ttlMs: ttlUntil(entry.expiresAt) }),

    async take(nodeId, { max, waitMs, signal }) {
      if (isAborted(signal)) return [];
      const until = clock.now() + waitMs;
      const atOnce = await takeNow(nodeId, max, signal);
      if (atOnce.length > 0 || waitMs <= 0) return atOnce;
      const others = arrivals.join(nodeId);
      try {
        for (;;) {
          const seen = others.count();
          const taken = await takeNow(nodeId, max, signal);
          const leftMs = until - clock.now();
          if (taken.length > 0 || leftMs <= 0) return taken;
          if (others.count() === seen) await others.next(leftMs, signal);
          if (isAborted(signal)) return [];
        }
      } finally {
        others.leave();
      }
    },

    drop: (nodeId, jobId) =>
      lines.ask(
        tags.node(nodeId),
        'drop-entry',
        (shard) => shard.state.mailboxes.get(nodeId, shard.now())?.delete(jobId) === true,
      ),

    forget: (nodeId) =>
      lines.ask(tags.node(nodeId), 'forget-mailbox', ({ state }) => state.mailboxes.delete(nodeId)),
  };
}

/** Its turn comes after all others. */
const LAST = -1;

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

function put(
  shard: Shard,
  nodeId: NodeId,
  { jobId, turn, body, ttlMs }: Taken & { readonly ttlMs: number },
  max: number,
): 'queued' | 'full' {
  const { state } = shard;
  const now = shard.now();
  const box = state.mailboxes.get(nodeId, now) ?? new Map<JobId, WaitingEntry>();
  if (box.has(jobId) || box.size >= max) {
    for (const [each, { expiresAt }] of box) if (expiresAt <= now) box.delete(each);
  }
  if (box.has(jobId)) return 'queued';
  if (turn === LAST && box.size >= max) return 'full';
  // The entry has expired: no node can fetch it.
  if (ttlMs <= 0) return 'queued';
  // Also after entries that a reader holds and may give back.
  box.set(jobId, { turn: turn === LAST ? shard.micros() : turn, expiresAt: now + ttlMs, body });
  state.mailboxes.put(nodeId, box, Math.max(state.mailboxes.until(nodeId, now), now + ttlMs));
  shard.publish(keys.arrivals(nodeId), undefined);
  return 'queued';
}

function take(shard: Shard, nodeId: NodeId, max: number, idleMs: number): readonly Taken[] {
  const now = shard.now();
  const box = shard.state.mailboxes.get(nodeId, now);
  const taken: Taken[] = [];
  if (box === undefined) return taken;
  for (const [jobId, { turn, expiresAt, body }] of [...box].sort(([, a], [, b]) => a.turn - b.turn)) {
    if (taken.length === max) break;
    box.delete(jobId);
    const { slot } = body as MailboxEntry<unknown>;
    if (expiresAt > now && (slot === undefined || commit(shard, nodeId, slot, idleMs)))
      taken.push({ jobId, turn, body });
  }
  return taken;
}

/** False: the lease has ended or was abandoned, so the job must not reach the node. */
function commit(shard: Shard, nodeId: NodeId, { lease, ttlMs }: Slot, idleMs: number): boolean {
  const now = shard.now();
  const leases = sweep(shard, nodeId, now);
  const until = leases?.get(lease);
  if (until === undefined || shard.state.marks.get(nodeId, now)?.abandoned.has(lease)) return false;
  leases?.set(lease, Math.max(until, now + ttlMs));
  noteCommitted(marksOf(shard, nodeId, now, idleMs), lease, now);
  return true;
}
