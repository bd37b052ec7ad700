/** Cold path: incarnations that are known to be dead, for as long as node records of theirs may still be read. */
import { driverName } from '../../domain/driver-name.ts';
import type { InstanceName } from '../../ports/instances.ts';
import type { NodeRecord } from '../../ports/node-records.ts';

/** More than ever die within the life of a node record. */
const MOST_REMEMBERED = 1_000;

export interface DeadHolders {
  note(holder: InstanceName): void;
  /** Those who live under the very incarnation that was dead are not: their sockets are there. */
  seen(living: ReadonlyMap<string, InstanceName>): void;
  /** Nobody reaches the node of this node record: its socket ended with its owner. */
  held(record: Pick<NodeRecord, 'channel' | 'holder'>): boolean;
}

export function createDeadHolders(): DeadHolders {
  const dead = new Set<string>();
  return {
    note(holder) {
      dead.add(driverName(holder));
      const [oldest] = dead;
      if (dead.size > MOST_REMEMBERED && oldest !== undefined) dead.delete(oldest);
    },
    seen(living) {
      for (const holder of living.values()) dead.delete(driverName(holder));
    },
    held: ({ channel, holder }) => channel === 'socket' && dead.has(driverName(holder)),
  };
}
