/** Hot path, seldom: who was declared dead, also after what it left was adopted: its last jobs may yet be found by whoever waits for them. */

/** As many as ever ran beside one another; the one that died first is forgotten first. */
const MOST_REMEMBERED = 1_000;

export interface DeadInstances {
  died(instanceIds: readonly string[]): void;
  /** Whoever was started again under its name is silent at most, from here on. */
  seen(living: ReadonlyMap<string, unknown>): void;
  has(instanceId: string): boolean;
}

export function createDeadInstances(): DeadInstances {
  const dead = new Set<string>();
  return {
    died(instanceIds) {
      for (const instanceId of instanceIds) dead.add(instanceId);
      for (const oldest of dead) {
        if (dead.size <= MOST_REMEMBERED) return;
        dead.delete(oldest);
      }
    },
    seen(living) {
      for (const instanceId of dead) if (living.has(instanceId)) dead.delete(instanceId);
    },
    has: (instanceId) => dead.has(instanceId),
  };
}
