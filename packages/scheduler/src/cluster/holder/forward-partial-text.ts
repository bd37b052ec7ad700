/**
 * Hot path: partial text of a job goes to its driver, where the session is that waits for it. A job without a session was submitted over
 * HTTP, and its subscribers may be on any instance. Texts are sent as hints and may be lost.
 */

import type { JobId, NodeId } from '../../domain/ids.ts';
import { instanceOf } from '../../domain/ids.ts';
import type { PartialText } from '../../domain/node-report.ts';
import type { Hints } from '../messaging/hints.ts';
import type { DriverCache } from './driver-cache.ts';
import type { FindDriver } from './find-driver.ts';

type ReceivePartial = (jobId: JobId, text: string, isFinal: boolean, nodeId: NodeId) => void;

export function createForwardPartialText(deps: {
  driverCache: Pick<DriverCache, 'find'>;
  /** An HTTP node may report on an instance that did not hand out the job. */
  findDriver: Pick<FindDriver, 'find'>;
  hints: Pick<Hints, 'partial' | 'followed'>;
  /** This instance drives the job, perhaps since a takeover that the cache does not know. */
  drives: (jobId: JobId) => boolean;
  /** Sessions and subscribers of this instance. False: no session waits for the job here. */
  receive: (partial: PartialText) => boolean;
}): { partial: ReceivePartial; atDriver: (partial: PartialText) => void } {
  const { driverCache, findDriver, hints } = deps;
  function atDriver(partial: PartialText): void {
    if (!deps.receive(partial)) hints.followed(partial);
  }
  async function search(partial: PartialText): Promise<void> {
    const direction = await findDriver.find(partial.jobId, 'request');
    if (direction === 'here') atDriver(partial);
    else if (direction !== 'none') hints.partial(direction.instanceId, partial);
  }
  return {
    atDriver,
    partial(jobId, text, isFinal, nodeId) {
      const partial = { jobId, text, isFinal, nodeId };
      if (deps.drives(jobId)) return atDriver(partial);
      const cached = driverCache.find(jobId);
      if (cached !== undefined) return hints.partial(instanceOf(cached), partial);
      search(partial).catch(() => {}); // a hint may be lost
    },
  };
}
