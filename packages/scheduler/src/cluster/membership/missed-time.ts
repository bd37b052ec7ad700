/**
 * Cold path: how long each instance was missing while the store could have shown it. A store with repeated outages never answers for two
 * TTLs in a row; but an instance that was missing for two TTLs in total had as much time to return. No clock, no I/O.
 */
export interface MissedTime {
  /** These live, also if the rest of the read is uncertain. */
  seen(living: ReadonlyMap<string, unknown>): void;
  /** A complete and certain read began at `at` and did not show these. */
  missed(instanceIds: readonly string[], at: number): void;
  /** The time since the last read does not count: the store was away, or may have lost data. */
  markUncertain(): void;
  /** In total, since it was last seen. */
  lengthMs(instanceId: string): number;
}

/** `maxBetweenMs`: the time between two reads. A longer one means that this process was frozen, and the rest does not count. */
export function createMissedTime(maxBetweenMs: number): MissedTime {
  /** Bounded by the list of instances in the store. */
  const lengths = new Map<string, number>();
  let lastAt: number | undefined;
  return {
    seen(living) {
      for (const instanceId of living.keys()) lengths.delete(instanceId);
    },
    missed(instanceIds, at) {
      const sinceMs = lastAt === undefined ? 0 : Math.min(at - lastAt, maxBetweenMs);
      lastAt = at;
      for (const instanceId of lengths.keys())
        if (!instanceIds.includes(instanceId)) lengths.delete(instanceId);
      for (const instanceId of instanceIds) {
        const before = lengths.get(instanceId);
        lengths.set(instanceId, before === undefined ? 0 : before + sinceMs);
      }
    },
    markUncertain() {
      lastAt = undefined;
    },
    lengthMs: (instanceId) => lengths.get(instanceId) ?? 0,
  };
}
