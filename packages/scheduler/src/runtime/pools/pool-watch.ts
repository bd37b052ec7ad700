/**
 * Hot path: counts the results of pool lookups. The reason of a miss is computed at most a few times a second per kind of job, and
 * for at most a millisecond per interval.
 */
import type { PoolId } from '../../domain/pool.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import type { CompiledNeed } from '../select/compile-need.ts';
import type { PoolWatch } from '../select/select.ts';
import { type MissReason, missReason } from './miss-reason.ts';

/** On a full fleet every job misses; a reason is reused for this long. */
const REASON_MS = 250;
const MAX_REASONS = 4_096;
/** Per interval: with a thousand pools, computing all reasons would delay the job. */
const MAX_SPENT_MS = 1;

export function createPoolWatch({ meter, clock }: { meter: Meter; clock: Clock }): PoolWatch {
  const recentReasons = new Map<string, { readonly reason: MissReason; readonly until: number }>();
  let spentMs = 0;
  let spentUntil = 0;

  /** The last known reason is used when no time is left. */
  function reasonOf(compiled: CompiledNeed, poolId: PoolId): MissReason {
    if (compiled.fleet.table.pools?.roster(poolId) === undefined) return 'no_nodes';
    const key = `${poolId} ${compiled.query.key}`;
    const now = clock.now();
    const known = recentReasons.get(key);
    if (known !== undefined && now < known.until) return known.reason;
    if (now >= spentUntil) {
      spentMs = 0;
      spentUntil = now + REASON_MS;
    }
    if (spentMs >= MAX_SPENT_MS) return known?.reason ?? 'unexamined';
    const since = clock.precise();
    const reason = missReason(compiled, poolId);
    spentMs += clock.precise() - since;
    if (recentReasons.size >= MAX_REASONS) recentReasons.clear();
    recentReasons.set(key, { reason, until: now + REASON_MS });
    return reason;
  }

  return {
    missed(compiled, poolId) {
      const reason = reasonOf(compiled, poolId);
      meter.count('scheduler_phase3_pool_attempt_total', { pool: `${poolId}`, result: 'fail', reason });
    },
    found({ route }, poolId, isFallback) {
      const pool = `${poolId}`;
      meter.count('scheduler_phase3_pool_attempt_total', { pool, result: 'success', reason: 'ok' });
      meter.count('scheduler_phase3_pool_selected_total', {
        pool,
        outcome: 'hit',
        fallback: `${isFallback || route?.isFallback === true}`,
      });
      meter.count('scheduler_pool_query_total', FOUND);
    },
    exhausted({ route }) {
      const preferred = route?.poolIds[route.start];
      const pool = preferred === undefined ? 'none' : `${preferred}`;
      const fallback = `${(route?.count ?? 0) > 1 || route?.isFallback === true}`;
      meter.count('scheduler_phase3_pool_selected_total', { pool, outcome: 'miss', fallback });
      meter.count('scheduler_pool_query_total', EMPTY);
    },
  };
}

const FOUND = { result: 'found' };
const EMPTY = { result: 'empty' };
