/** Hot path: releases the slot that was reserved during an admission if the job does not need it. */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import { type Engine, releaseLease } from '../engine.ts';

/** The reserve of a first attempt. */
export interface Reserved {
  readonly nodeId: NodeId;
  readonly reserving: MaybePromise<boolean>;
}

/** Releases only a slot that was taken and that the job itself does not use. */
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

/** The job's own first attempt may be on this node: then the slot belongs to it. */
const mayHold = ({ fence, timeline }: JobRecord, nodeId: NodeId): boolean =>
  fence === undefined || timeline.some((entry) => entry.attempt === 1 && entry.nodeId === nodeId);
