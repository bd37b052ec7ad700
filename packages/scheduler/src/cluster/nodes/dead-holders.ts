/** Cold path: incarnations that died, for as long as their node records may still be read. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { driverName } from '../../domain/ids.ts';
import type { InstanceName } from '../../ports/instances.ts';
import type { NodeRecord } from '../../ports/node-records.ts';

/** More than ever die within the TTL of a node record. */
const MAX_REMEMBERED = 1_000;

export interface DeadHolders {
  note(holder: InstanceName): void;
  /** An instance that lives under the incarnation that was declared dead still has its sockets. */
  seen(living: ReadonlyMap<string, InstanceName>): void;
  /** The socket of this record's node ended with its holder: no instance can reach the node. */
  isOfDeadHolder(record: Pick<NodeRecord, 'channel' | 'holder'>): boolean;
}

export function createDeadHolders(): DeadHolders {
  const dead = createBoundedMap<string, true>({ max: MAX_REMEMBERED });
  return {
    note: (holder) => dead.set(driverName(holder), true),
    seen(living) {
      for (const holder of living.values()) dead.delete(driverName(holder));
    },
    isOfDeadHolder: ({ channel, holder }) => channel === 'socket' && dead.has(driverName(holder)),
  };
}
