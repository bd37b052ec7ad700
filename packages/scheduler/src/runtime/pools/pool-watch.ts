/** Hot path: counts what becomes of looking into pools. Why one had nobody is found out at most a few times a second per kind of job. */
import type { PoolId } from '../../domain/pool.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import type { CompiledNeed } from '../select/compile-need.ts';
import type { PoolWatch } from '../select/select.ts';
import { type MissReason, missReason } from './miss-reason.ts';

/** On a full fleet every job misses; what it missed for is the same for a while. */
const REASON_MS = 250;
const MAX_REASONS = 4_096;

export function createPoolWatch({ meter, clock }: { meter: Meter; clock: Clock }): PoolWatch {
  const lately = new Map<string, { readonly reason: MissReason; readonly until: number }>();

  function reasonOf(compiled: CompiledNeed, poolId: PoolId): MissReason {
    const key = `${poolId} ${compiled.query.key}`;
    const now = clock.now();
    const known = lately.get(key);
    if (known !== undefined && now < known.until) return known.reason;
    if (lately.size >= MAX_REASONS) lately.clear();
    const reason = missReason(compiled, poolId);
    lately.set(key, { reason, until: now + REASON_MS });
    return reason;
  }

  return {
    missed(compiled, poolId) {
      const reason = reasonOf(compiled, poolId);
      meter.count('scheduler_phase3_pool_attempt_total', { pool: `${poolId}`, result: 'fail', reason });
    },
    found(_compiled, poolId, isFallback) {
      const pool = `${poolId}`;
      meter.count('scheduler_phase3_pool_attempt_total', { pool, result: 'success', reason: 'ok' });
      meter.count('scheduler_phase3_pool_selected_total', {
        pool,
        outcome: 'hit',
        fallback: `${isFallback}`,
      });
      meter.count('scheduler_pool_query_total', FOUND);
    },
    exhausted({ route }) {
      const preferred = route?.poolIds[route.start];
      const pool = preferred === undefined ? 'none' : `${preferred}`;
      const fallback = `${(route?.count ?? 0) > 1}`;
      meter.count('scheduler_phase3_pool_selected_total', { pool, outcome: 'miss', fallback });
      meter.count('scheduler_pool_query_total', EMPTY);
    },
  };
}

const FOUND = { result: 'found' };
const EMPTY = { result: 'empty' };
