/** Hot path: partial text of a job goes to the session that waits for it, which is at the job's driver. It is sent as a hint and may be lost. */

import type { JobId, NodeId } from '../../domain/ids.ts';
import { instanceOf } from '../../domain/ids.ts';
import type { Hints } from '../messaging/hints.ts';
import type { DriverCache } from './driver-cache.ts';

type ReceivePartial = (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId) => void;

export function createForwardPartialText(deps: {
  driverCache: Pick<DriverCache, 'find'>;
  hints: Pick<Hints, 'partial'>;
  /** This instance drives the job, perhaps since a takeover that the cache does not know. */
  drives: (jobId: JobId) => boolean;
  /** The sessions of this instance. */
  sessions: () => { partial: ReceivePartial };
}): ReceivePartial {
  const { driverCache, hints, sessions } = deps;
  return (jobId, text, isFinal, nodeId) => {
    const driver = deps.drives(jobId) ? undefined : driverCache.find(jobId);
    if (driver === undefined) sessions().partial(jobId, text, isFinal, nodeId);
    else hints.partial(instanceOf(driver), { jobId, text, isFinal, nodeId });
  };
}
