/** Hot path: which nodes are in which pool, as bitmaps and as lists, under one plan. A new plan gets a new index beside the old. */
import type { PoolId } from '../../domain/pool.ts';
import type { FactTable } from './fact-table.ts';
import { createRoster, delist, enlist, type Roster } from './roster.ts';

export interface PoolIndex {
  /** The key of the fact that a node is in the pool. */
  key(poolId: PoolId): string;
  /** The members; undefined = none. */
  roster(poolId: PoolId): Roster | undefined;
  /** The pools of the node; empty if it is in none. */
  of(index: number): readonly PoolId[];
  /** Returns whether anything changed. */
  put(index: number, poolIds: readonly PoolId[]): boolean;
  /** Removes everything. */
  clear(): void;
}

const NONE: readonly PoolId[] = [];

/** `edition`: different for each index over one table. */
export function createPoolIndex(facts: FactTable, edition: number): PoolIndex {
  const rosters = new Map<PoolId, Roster>();
  const keys = new Map<PoolId, string>();
  const homes: (readonly PoolId[] | undefined)[] = [];

  function key(poolId: PoolId): string {
    const known = keys.get(poolId);
    if (known !== undefined) return known;
    const made = `pool:${edition}:${poolId}`;
    keys.set(poolId, made);
    return made;
  }

  function set(index: number, poolId: PoolId, isMember: boolean): void {
    facts.put(key(poolId), index, isMember);
    const roster = rosters.get(poolId) ?? createRoster();
    if (isMember) enlist(roster, index);
    else delist(roster, index);
    if (roster.count === 0) rosters.delete(poolId);
    else rosters.set(poolId, roster);
  }

  return {
    key,
    roster: (poolId) => rosters.get(poolId),
    of: (index) => homes[index] ?? NONE,
    put(index, poolIds) {
      const before = homes[index] ?? NONE;
      if (before === poolIds) return false;
      homes[index] = poolIds;
      let isNews = false;
      for (const poolId of before) {
        if (poolIds.includes(poolId)) continue;
        set(index, poolId, false);
        isNews = true;
      }
      for (const poolId of poolIds) {
        if (before.includes(poolId)) continue;
        set(index, poolId, true);
        isNews = true;
      }
      return isNews;
    },
    clear() {
      for (const poolId of rosters.keys()) facts.forget(key(poolId));
      rosters.clear();
      homes.length = 0;
    },
  };
}
