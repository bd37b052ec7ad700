/**
 * Hot path: mailboxes of nodes that poll, as one of many instances uses them. The driver adds its name to the entry, and the instance that
 * hands the job over caches it, as the holder of a socket does. So the node's reports reach the driver without a read of the job record.
 */
import type { NodeMailbox } from '../../ports/node-mailbox.ts';
import type { DriverCache } from '../holder/driver-cache.ts';

export function guardMailbox<T>(deps: {
  mailbox: NodeMailbox<T>;
  /** "instance/incarnation" of this one. */
  driver: () => string;
  driverCache: Pick<DriverCache, 'note'>;
}): NodeMailbox<T> {
  const { mailbox, driver, driverCache } = deps;
  return {
    ...mailbox,
    put: (nodeId, entry) => mailbox.put(nodeId, { ...entry, driver: driver() }),
    async take(nodeId, limits) {
      const entries = await mailbox.take(nodeId, limits);
      for (const entry of entries) {
        // Jobs that this instance drives need no cache entry.
        if (entry.slot !== undefined && entry.driver !== undefined && entry.driver !== driver())
          driverCache.note(entry.jobId, entry.driver);
      }
      return entries;
    },
  };
}
