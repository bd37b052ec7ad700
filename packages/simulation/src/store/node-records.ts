/**
 * Simulation: node records, by which instances know each other's nodes. A node record and its presence lie on the node's shard,
 * lists on a few others.
 */
import type { NodeId } from '../../../scheduler/dist/domain/ids.js';
import {
  isLater,
  type NodeRecord,
  type NodeRecords,
  type RecordStatus,
  type RecordVersion,
  type Stale,
  WITHDRAWN_VERSION,
} from '../../../scheduler/dist/ports/node-records.js';
import { pageNodes } from './page-nodes.ts';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import type { StoredNodeRecord } from './servers/shard-state.ts';
import { keys, nodePart as partOf, tags } from './servers/tags.ts';

const RECORD_TTL_MS = 3_600_000;
const WITHDRAWN_TTL_MS = 60_000;
const NOTICE_PARTS = 4;

export function createNodeRecords(deps: {
  lines: Lines;
  /** Ids that were not enlisted for this long are no longer listed. */
  forgetAfterMs: number;
  onFault?: ((fault: unknown) => void) | undefined;
}): NodeRecords {
  const { lines } = deps;
  const listeners = new Set<(notices: readonly RecordVersion[]) => void>();
  const untold = new Map<NodeId, RecordVersion>();
  let listening: Promise<readonly (() => void)[]> | undefined;

  const on = <T>(nodeId: NodeId, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.node(nodeId), what, run);

  function tell(heard: readonly RecordVersion[]): void {
    for (const listen of listeners) {
      try {
        listen(heard);
      } catch (fault) {
        deps.onFault?.(fault);
      }
    }
  }

  /** All changes of one moment are sent as one notice. */
  function notice({ nodeId, generation, version }: RecordVersion): void {
    if (untold.size === 0) queueMicrotask(tellAll);
    untold.set(nodeId, { nodeId, generation, version });
  }

  function tellAll(): void {
    const parts = Array.from({ length: NOTICE_PARTS }, (): RecordVersion[] => []);
    for (const each of untold.values()) parts[partOf(each.nodeId) % NOTICE_PARTS]?.push(each);
    untold.clear();
    for (const [part, some] of parts.entries()) {
      const channel = keys.nodeNotices(part);
      if (some.length > 0) lines.publish(tags.key(channel), channel, some);
    }
  }

  async function listen(): Promise<readonly (() => void)[]> {
    const heard = await Promise.allSettled(
      Array.from({ length: NOTICE_PARTS }, (_, part) => keys.nodeNotices(part)).map((channel) =>
        lines.subscribe(tags.key(channel), channel, (said) => tell(said as readonly RecordVersion[])),
      ),
    );
    const stops = heard.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const one of heard) {
      if (one.status === 'fulfilled') continue;
      for (const stop of stops) stop();
      listening = undefined;
      throw one.reason;
    }
    return stops;
  }

  async function enlist(nodeIds: readonly NodeId[]): Promise<void> {
    const parts = new Map<number, NodeId[]>();
    for (const nodeId of nodeIds) {
      const part = partOf(nodeId);
      parts.set(part, [...(parts.get(part) ?? []), nodeId]);
    }
    // All parts are tried before the call fails.
    const answers = await Promise.allSettled(
      [...parts].map(([part, own]) =>
        lines.ask(tags.key(keys.nodesSeen(part)), 'enlist-nodes', (shard) =>
          enlistIn(shard, part, own, shard.now()),
        ),
      ),
    );
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
  }

  return {
    async post(record, ttlMs) {
      const result = await on(record.nodeId, 'publish-record', (shard) => post(shard, record, ttlMs));
      if (result.kind === 'stale') return result;
      notice(record);
      if (result.kind === 'posted') return { kind: 'posted' };
      // Also after a repeat: the post before may have failed after its node record was written.
      await enlist([record.nodeId]);
      return { kind: result.kind === 'first' ? 'posted' : 'already' };
    },

    async seen(record, ttlMs, at) {
      const result = await on(record.nodeId, 'renew-node', (shard) => renew(shard, record, ttlMs, at));
      if (result.kind === 'stale') return result;
      if (result.kind === 'returned') notice(record);
      return { kind: result.kind === 'missing' ? 'missing' : 'seen' };
    },

    async withdraw(nodeId, generation) {
      const result = await on(nodeId, 'withdraw-record', (shard) => withdraw(shard, nodeId, generation));
      if (result.kind === 'withdrawn') notice({ nodeId, generation, version: WITHDRAWN_VERSION });
      return result;
    },

    enlist,

    async read(asked) {
      const standings = await Promise.all(
        asked.map((each) =>
          // A shard that does not answer leaves only its own nodes unknown.
          on(each.nodeId, 'read-record', (shard) => read(shard, each)).catch(
            (): RecordStatus => ({ kind: 'unknown' }),
          ),
        ),
      );
      return new Map(asked.map(({ nodeId }, at) => [nodeId, standings[at] ?? { kind: 'unknown' }]));
    },

    page: (cursor, max) => pageNodes(lines, cursor, max, deps.forgetAfterMs),

    async subscribe(hear) {
      // A wrapper, so that one function may subscribe twice and each subscription ends by itself.
      const own = (heard: readonly RecordVersion[]): void => hear(heard);
      listeners.add(own);
      try {
        listening ??= listen();
        await listening;
      } catch (fault) {
        listeners.delete(own);
        throw fault;
      }
      return async () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        const stops = await listening?.catch(() => []);
        listening = undefined;
        for (const stop of stops ?? []) stop();
      };
    },
  };
}

function enlistIn({ state, now }: Shard, part: number, nodeIds: readonly NodeId[], at: number): void {
  const key = keys.nodesSeen(part);
  const seen = state.names.get(key, now()) ?? new Map<string, number>();
  for (const nodeId of nodeIds) seen.set(nodeId, Math.max(seen.get(nodeId) ?? 0, at));
  state.names.put(key, seen);
}

const staleOf = ({ generation, version }: StoredNodeRecord): Stale => ({
  kind: 'stale',
  generation,
  version,
});

function post(
  { state, now }: Shard,
  record: NodeRecord,
  ttlMs: number,
): { readonly kind: 'first' | 'posted' | 'already' } | Stale {
  const { nodeId, generation, version, view } = record;
  const known = state.records.get(nodeId, now());
  if (known !== undefined && isLater(known, record)) return staleOf(known);
  const isFirst = known?.generation !== generation;
  const isNewer = isFirst || known.version !== version;
  const seenAt = isFirst ? undefined : state.nodePresence.get(nodeId, now());
  if (isNewer) state.records.put(nodeId, { generation, version, record }, now() + RECORD_TTL_MS);
  if (seenAt === undefined || seenAt <= view.lastBeatAt) {
    state.nodePresence.put(nodeId, view.lastBeatAt, now() + ttlMs);
  }
  return { kind: isFirst ? 'first' : isNewer ? 'posted' : 'already' };
}

function renew(
  { state, now }: Shard,
  record: RecordVersion,
  ttlMs: number,
  at: number,
): { readonly kind: 'seen' | 'returned' | 'missing' } | Stale {
  const { nodeId } = record;
  const known = state.records.get(nodeId, now());
  if (known === undefined || isLater(record, known)) return { kind: 'missing' };
  if (isLater(known, record)) return staleOf(known);
  if (state.records.until(nodeId, now()) < now() + RECORD_TTL_MS / 2) {
    state.records.expire(nodeId, now() + RECORD_TTL_MS);
  }
  const seenAt = state.nodePresence.get(nodeId, now());
  if (seenAt === undefined || seenAt <= at) state.nodePresence.put(nodeId, at, now() + ttlMs);
  return { kind: seenAt === undefined ? 'returned' : 'seen' };
}

function withdraw(
  { state, now }: Shard,
  nodeId: NodeId,
  generation: number,
): { readonly kind: 'withdrawn' } | Stale {
  const known = state.records.get(nodeId, now());
  if (known !== undefined && known.generation > generation) return staleOf(known);
  const over = { generation, version: WITHDRAWN_VERSION, record: undefined };
  state.records.put(nodeId, over, now() + WITHDRAWN_TTL_MS);
  state.nodePresence.delete(nodeId);
  return { kind: 'withdrawn' };
}

function read(
  { state, now }: Shard,
  asked: Pick<RecordVersion, 'nodeId'> & Partial<RecordVersion>,
): RecordStatus {
  const { nodeId } = asked;
  const known = state.records.get(nodeId, now());
  if (known === undefined) return { kind: 'absent' };
  const { generation, version, record } = known;
  if (record === undefined) return { kind: 'withdrawn', generation };
  const seenAt = state.nodePresence.get(nodeId, now());
  if (seenAt === undefined) return { kind: 'expired', generation };
  const isKnown = asked.generation === generation && asked.version === version;
  const presentForMs = state.nodePresence.until(nodeId, now()) - now();
  return { kind: 'present', generation, version, record: isKnown ? undefined : record, seenAt, presentForMs };
}
