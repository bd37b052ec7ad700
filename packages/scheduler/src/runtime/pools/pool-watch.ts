/** Hot path: counts what becomes of looking into pools. Why one had nobody is found out at most a few times a second per kind of job, and for a millisecond of each quarter. */
import type { PoolId } from '../../domain/pool.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import type { CompiledNeed } from '../select/compile-need.ts';
import type { PoolWatch } from '../select/select.ts';
import { type MissReason, missReason } from './miss-reason.ts';

/** On a full fleet every job misses; what it missed for is the same for a while. */
const REASON_MS = 250;
const MAX_REASONS = 4_096;
/** Of each such while. With a thousand pools a job that finds nobody would otherwise be held up by all their reasons. */
const MAX_SPENT_MS = 1;

export function createPoolWatch({ meter, clock }: { meter: Meter; clock: Clock }): PoolWatch {
  const lately = new Map<string, { readonly reason: MissReason; readonly until: number }>();
  let spentMs = 0;
  let spentUntil = 0;

  /** What was known before will do where there is no time left. */
  function reasonOf(compiled: CompiledNeed, poolId: PoolId): MissReason {
    if (compiled.fleet.table.pools?.roster(poolId) === undefined) return 'no_nodes';
    const key = `${poolId} ${compiled.query.key}`;
    const now = clock.now();
    const known = lately.get(key);
    if (known !== undefined && now < known.until) return known.reason;
    if (now >= spentUntil) {
      spentMs = 0;
      spentUntil = now + REASON_MS;
    }
    if (spentMs >= MAX_SPENT_MS) return known?.reason ?? 'unexamined';
    const since = clock.precise();
    const reason = missReason(compiled, poolId);
    spentMs += clock.precise() - since;
    if (lately.size >= MAX_REASONS) lately.clear();
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
