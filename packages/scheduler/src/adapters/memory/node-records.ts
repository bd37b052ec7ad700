/** A board that several instances of one process share: for the simulator and for tests, and the readable specification of the Redis one. */
import type { NodeId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  isLater,
  type NodeRecord,
  type NodeRecords,
  type RecordStatus,
  type RecordVersion,
  type Stale,
  WITHDRAWN_VERSION,
} from '../../ports/node-records.ts';

interface Posted {
  readonly generation: number;
  readonly version: number;
  /** Undefined: withdrawn. */
  readonly record: NodeRecord | undefined;
  expiresAt: number;
  seenAt: number;
  presentUntil: number;
}

const RECORD_LIFE_MS = 3_600_000;
const WITHDRAWN_LIFE_MS = 60_000;

export function createNodeRecords(deps: {
  clock: Clock;
  /** Ids that nobody enlisted for this long are no longer listed. */
  forgetAfterMs: number;
  onFault?: (fault: unknown) => void;
}): NodeRecords {
  const { clock } = deps;
  const board = new Map<NodeId, Posted>();
  /** In the order of `turn`: whoever is listed anew goes to the end. */
  const listed = new Map<NodeId, { turn: number; at: number }>();
  const listeners = new Set<(notices: readonly RecordVersion[]) => void>();
  const untold = new Map<NodeId, RecordVersion>();
  let turns = 0;

  function find(nodeId: NodeId): Posted | undefined {
    const posted = board.get(nodeId);
    if (posted === undefined || posted.expiresAt > clock.now()) return posted;
    board.delete(nodeId);
    return undefined;
  }

  const staleOf = ({ generation, version }: Posted): Stale => ({ kind: 'stale', generation, version });

  function list(nodeId: NodeId): void {
    listed.delete(nodeId);
    turns += 1;
    listed.set(nodeId, { turn: turns, at: clock.now() });
  }

  function tell(notice: RecordVersion): void {
    if (untold.size === 0) clock.after(0, tellAll);
    untold.set(notice.nodeId, notice);
  }

  function tellAll(): void {
    const notices = [...untold.values()];
    untold.clear();
    for (const listen of listeners) {
      try {
        listen(notices);
      } catch (fault) {
        deps.onFault?.(fault);
      }
    }
  }

  function beat(posted: Posted, ttlMs: number, at: number): void {
    const now = clock.now();
    if (posted.presentUntil > now && at < posted.seenAt) return;
    posted.seenAt = at;
    posted.presentUntil = now + ttlMs;
  }

  function status(asked: Partial<RecordVersion>, posted: Posted | undefined): RecordStatus {
    if (posted === undefined) return { kind: 'absent' };
    const { generation, version, record, seenAt } = posted;
    if (record === undefined) return { kind: 'withdrawn', generation };
    const presentForMs = posted.presentUntil - clock.now();
    if (presentForMs <= 0) return { kind: 'expired', generation };
    const isKnown = asked.generation === generation && asked.version === version;
    return {
      kind: 'present',
      generation,
      version,
      record: isKnown ? undefined : record,
      seenAt,
      presentForMs,
    };
  }

  return {
    async post(record, ttlMs) {
      const known = find(record.nodeId);
      if (known !== undefined && isLater(known, record)) return staleOf(known);
      const isNew = known === undefined || isLater(record, known);
      if (known === undefined || record.generation > known.generation || !isNew) list(record.nodeId);
      const { generation, version } = record;
      const { seenAt, presentUntil } =
        known?.generation === generation ? known : { seenAt: 0, presentUntil: 0 };
      const expiresAt = clock.now() + RECORD_LIFE_MS;
      const posted = isNew ? { generation, version, record, expiresAt, seenAt, presentUntil } : known;
      board.set(record.nodeId, posted);
      beat(posted, ttlMs, record.view.lastBeatAt);
      tell({ nodeId: record.nodeId, generation, version });
      return { kind: isNew ? 'posted' : 'already' };
    },

    async seen(record, ttlMs, at) {
      const known = find(record.nodeId);
      if (known === undefined || isLater(record, known)) return { kind: 'missing' };
      if (isLater(known, record)) return staleOf(known);
      const wasPresent = known.presentUntil > clock.now();
      beat(known, ttlMs, at);
      known.expiresAt = clock.now() + RECORD_LIFE_MS;
      if (!wasPresent) tell({ nodeId: record.nodeId, generation: known.generation, version: known.version });
      return { kind: 'seen' };
    },

    async withdraw(nodeId, generation) {
      const known = find(nodeId);
      if (known !== undefined && known.generation > generation) return staleOf(known);
      const expiresAt = clock.now() + WITHDRAWN_LIFE_MS;
      const version = WITHDRAWN_VERSION;
      board.set(nodeId, { generation, version, record: undefined, expiresAt, seenAt: 0, presentUntil: 0 });
      tell({ nodeId, generation, version });
      return { kind: 'withdrawn' };
    },

    async enlist(nodeIds) {
      for (const nodeId of nodeIds) list(nodeId);
    },

    async read(asked) {
      return new Map(asked.map((one) => [one.nodeId, status(one, find(one.nodeId))]));
    },

    async page(cursor, max) {
      const forgotten = clock.now() - deps.forgetAfterMs;
      const nodeIds: NodeId[] = [];
      let last = Number(cursor ?? 0);
      for (const [nodeId, { turn, at }] of listed) {
        if (at <= forgotten) {
          listed.delete(nodeId);
        } else if (turn > last) {
          if (nodeIds.length === max) return { nodeIds, cursor: String(last), isWhole: true };
          nodeIds.push(nodeId);
          last = turn;
        }
      }
      return { nodeIds, cursor: undefined, isWhole: true };
    },

    async subscribe(listen) {
      // A wrapper, so that one function may subscribe twice and each end only its own.
      const own = (notices: readonly RecordVersion[]) => listen(notices);
      listeners.add(own);
      return async () => void listeners.delete(own);
    },
  };
}
