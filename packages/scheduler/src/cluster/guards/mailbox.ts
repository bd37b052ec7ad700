/**
 * Hot path: mailboxes of nodes that poll, as many instances use them. Whoever puts a job there says who drives it, and whoever hands it
 * out notes that, as the holder of a socket does: what the node then says of it finds its way without a question to the store.
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
        // What is driven here is known without a note.
        if (entry.driver !== undefined && entry.driver !== driver())
          driverCache.note(entry.jobId, entry.driver);
      }
      return entries;
    },
  };
}
