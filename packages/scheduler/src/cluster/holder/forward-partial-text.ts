/**
 * Hot path: partial text of a job goes to its driver, where the session is that waits for it. A job without a session was submitted over
 * HTTP, and its subscribers may be on any instance. Texts are sent as hints and may be lost.
 */

import type { JobId, NodeId } from '../../domain/ids.ts';
import { instanceOf } from '../../domain/ids.ts';
import type { PartialText } from '../../domain/node-report.ts';
import type { Hints } from '../messaging/hints.ts';
import type { DriverCache } from './driver-cache.ts';

type ReceivePartial = (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId) => void;

export function createForwardPartialText(deps: {
  driverCache: Pick<DriverCache, 'find'>;
  hints: Pick<Hints, 'partial' | 'followed'>;
  /** This instance drives the job, perhaps since a takeover that the cache does not know. */
  drives: (jobId: JobId) => boolean;
  /** Sessions and subscribers of this instance. False: no session waits for the job here. */
  receive: (partial: PartialText) => boolean;
}): { partial: ReceivePartial; atDriver: (partial: PartialText) => void } {
  const { driverCache, hints } = deps;
  function atDriver(partial: PartialText): void {
    if (!deps.receive(partial)) hints.followed(partial);
  }
  return {
    atDriver,
    partial(jobId, text, isFinal, nodeId) {
      const driver = deps.drives(jobId) ? undefined : driverCache.find(jobId);
      const partial = { jobId, text, isFinal, nodeId };
      if (driver === undefined) atDriver(partial);
      else hints.partial(instanceOf(driver), partial);
    },
  };
}
