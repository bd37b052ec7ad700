/** Hot path: the slot that was reserved while a request was being admitted, when the request turns out not to need it. */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { type Engine, releaseLease } from '../engine.ts';

/** Of a first attempt. */
export interface Reserved {
  readonly nodeId: NodeId;
  readonly reserving: MaybePromise<boolean>;
}

/** Without a word to a ledger that took nothing, and not what may be the job's own. */
export function releaseUnused(
  engine: Engine,
  jobId: JobId,
  reserved: Reserved | undefined,
  job: JobRecord | undefined,
): MaybePromise<void> {
  if (reserved === undefined) return undefined;
  const { nodeId, reserving } = reserved;
  const release = (isTaken: boolean): MaybePromise<void> =>
    isTaken && (job?.jobId !== jobId || !mayHold(job, nodeId))
      ? releaseLease(engine, nodeId, leaseId(jobId, 1))
      : undefined;
  return reserving instanceof Promise ? reserving.then(release) : release(reserving);
}

/** A first attempt there is, was, or may be about to be the job's own, and so the slot: then it is left to it, or to its end. */
const mayHold = ({ fence, timeline }: JobRecord, nodeId: NodeId): boolean =>
  fence === undefined || timeline.some((entry) => entry.attempt === 1 && entry.nodeId === nodeId);
