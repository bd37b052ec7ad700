/** Cold path: decides what a node record read from the store changes in the replica. Pure. */
import { isLater, type NodeRecord, type RecordStatus } from '../../ports/node-records.ts';

/** A node of another instance, as last read. */
export interface KnownNode {
  readonly record: NodeRecord;
  /** When to read it again. */
  readonly nextReadAt: number;
  /** Since when the store has had no record of it. */
  readonly missingSince?: number;
}

export interface Circumstances {
  readonly now: number;
  /** Expired records are kept: holders could not renew them, or this instance started too recently. */
  readonly isHoldingOff: boolean;
  /** How long the record of a living node may be absent: its holder writes it again at the next heartbeat. */
  readonly absentForMs: number;
  /** A change whose notice was lost is found within this time. */
  readonly verifyMs: number;
  readonly retryMs: number;
}

export type RecordDecision =
  /** The node is new or changed. */
  | { readonly kind: 'take'; readonly node: KnownNode }
  | { readonly kind: 'seen'; readonly node: KnownNode; readonly seenAt: number }
  /** Uncertain: read again later. */
  | { readonly kind: 'wait'; readonly node: KnownNode }
  | { readonly kind: 'remove' }
  | { readonly kind: 'ignore' };

export function judgeNodeRecord(
  known: KnownNode | undefined,
  status: RecordStatus,
  circumstances: Circumstances,
): RecordDecision {
  if (status.kind === 'present') return judgePresent(known, status, circumstances);
  if (known === undefined) return { kind: 'ignore' };
  switch (status.kind) {
    case 'withdrawn':
      return status.generation >= known.record.generation ? { kind: 'remove' } : miss(known, circumstances);
    case 'expired':
      // A failover restored an earlier generation than the known one.
      if (status.generation < known.record.generation) return miss(known, circumstances);
      return circumstances.isHoldingOff ? wait(known, circumstances) : { kind: 'remove' };
    case 'absent':
      return miss(known, circumstances);
    case 'unknown':
      return wait(known, circumstances);
  }
}

function judgePresent(
  known: KnownNode | undefined,
  status: RecordStatus & { kind: 'present' },
  circumstances: Circumstances,
): RecordDecision {
  const { record, seenAt, presentForMs } = status;
  const nextReadAt = circumstances.now + Math.min(circumstances.verifyMs, presentForMs + 1);
  if (record !== undefined && (known === undefined || isLater(record, known.record))) {
    return { kind: 'take', node: { record: withBeat(record, seenAt), nextReadAt } };
  }
  if (known === undefined) return { kind: 'ignore' };
  // A failover lost a write; the holder will write again.
  if (isLater(known.record, status)) return wait(known, circumstances);
  return { kind: 'seen', node: { record: withBeat(known.record, seenAt), nextReadAt }, seenAt };
}

function withBeat(record: NodeRecord, seenAt: number): NodeRecord {
  if (seenAt <= record.view.lastBeatAt) return record;
  return { ...record, view: { ...record.view, lastBeatAt: seenAt } };
}

const wait = (known: KnownNode, { now, retryMs }: Circumstances): RecordDecision => ({
  kind: 'wait',
  node: { ...known, nextReadAt: now + retryMs },
});

/** The record is absent without a withdrawal: the store has probably lost it, and the node may live. */
function miss(known: KnownNode, circumstances: Circumstances): RecordDecision {
  const { now, isHoldingOff, absentForMs, retryMs } = circumstances;
  const missingSince = known.missingSince ?? now;
  if (!isHoldingOff && now - missingSince >= absentForMs) return { kind: 'remove' };
  return { kind: 'wait', node: { ...known, missingSince, nextReadAt: now + retryMs } };
}
