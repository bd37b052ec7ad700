/** Cold path: what an answer of the board means for what this instance knows of another's node. Pure. */
import { isLater, type NodeRecord, type RecordStatus } from '../../ports/node-records.ts';

/** A node of another instance, as it was last told. */
export interface KnownNode {
  readonly record: NodeRecord;
  /** When to ask for it again. */
  readonly lookAt: number;
  /** Since when the board has had no trace of it. */
  readonly missingSince?: number;
}

export interface Circumstances {
  readonly now: number;
  /** Silence proves nothing: nobody could renew, or this instance has not watched for long enough. */
  readonly isFrozen: boolean;
  /** How long the board may have lost all trace of a node that lives: its holder writes it anew at its next heartbeat. */
  readonly patienceMs: number;
  /** A lost notice is made up for within this time. */
  readonly verifyMs: number;
  readonly retryMs: number;
}

export type RecordDecision =
  /** It is new, or changed. */
  | { readonly kind: 'take'; readonly node: KnownNode }
  | { readonly kind: 'seen'; readonly node: KnownNode; readonly seenAt: number }
  /** Nothing is proved yet. */
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
      // An earlier generation is what a failover left of the one that is known.
      if (status.generation < known.record.generation) return miss(known, circumstances);
      return circumstances.isFrozen ? wait(known, circumstances) : { kind: 'remove' };
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
  const lookAt = circumstances.now + Math.min(circumstances.verifyMs, presentForMs + 1);
  if (record !== undefined && (known === undefined || isLater(record, known.record))) {
    return { kind: 'take', node: { record: withBeat(record, seenAt), lookAt } };
  }
  if (known === undefined) return { kind: 'ignore' };
  // A write was lost in a failover; the holder will notice.
  if (isLater(known.record, status)) return wait(known, circumstances);
  return { kind: 'seen', node: { record: known.record, lookAt }, seenAt };
}

function withBeat(record: NodeRecord, seenAt: number): NodeRecord {
  if (seenAt <= record.view.lastBeatAt) return record;
  return { ...record, view: { ...record.view, lastBeatAt: seenAt } };
}

const wait = (known: KnownNode, { now, retryMs }: Circumstances): RecordDecision => ({
  kind: 'wait',
  node: { ...known, lookAt: now + retryMs },
});

/** The store forgot it without anybody saying so: that is the store's fault before it is the node's. */
function miss(known: KnownNode, circumstances: Circumstances): RecordDecision {
  const { now, isFrozen, patienceMs, retryMs } = circumstances;
  const missingSince = known.missingSince ?? now;
  if (!isFrozen && now - missingSince >= patienceMs) return { kind: 'remove' };
  return { kind: 'wait', node: { ...known, missingSince, lookAt: now + retryMs } };
}
