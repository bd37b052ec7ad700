/**
 * How long each instance was missed while the store could have shown it. A store that is disturbed again and again never answers for
 * two lives on end; but what was missed for that long in between, piece by piece, had as much time to come back. Pure but for what it keeps.
 */
export interface MissedTime {
  /** Whatever else is in doubt: these are there. */
  seen(living: ReadonlyMap<string, unknown>): void;
  /** A whole look, on which nothing cast doubt, began then and did not show these. */
  missed(instanceIds: readonly string[], at: number): void;
  /** The time since the last look proves nothing: the store was away, or may have lost data. */
  doubt(): void;
  /** In all, since it was last seen. */
  lengthMs(instanceId: string): number;
}

/** `mostBetweenMs`: looks are not further apart, unless this process stood still, and saw nothing meanwhile. */
export function createMissedTime(mostBetweenMs: number): MissedTime {
  /** Bounded by the list of instances in the store. */
  const lengths = new Map<string, number>();
  let lastAt: number | undefined;
  return {
    seen(living) {
      for (const instanceId of living.keys()) lengths.delete(instanceId);
    },
    missed(instanceIds, at) {
      const sinceMs = lastAt === undefined ? 0 : Math.min(at - lastAt, mostBetweenMs);
      lastAt = at;
      for (const instanceId of lengths.keys())
        if (!instanceIds.includes(instanceId)) lengths.delete(instanceId);
      for (const instanceId of instanceIds) {
        const before = lengths.get(instanceId);
        lengths.set(instanceId, before === undefined ? 0 : before + sinceMs);
      }
    },
    doubt() {
      lastAt = undefined;
    },
    lengthMs: (instanceId) => lengths.get(instanceId) ?? 0,
  };
}
