/**
 * Hot path: whether a tenant may use more. It answers from memory: the sums of the store, read at most every few seconds, and what this
 * instance has counted since. So a quota is exceeded by what is in progress, and by what other instances accept between two reads.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { TenantId } from '../../domain/ids.ts';
import { isExceeded, isReached, type Quota, type QuotaState, stateOf } from '../../domain/quota.ts';
import { dayOf, monthOf, type PeriodTotals, type StageUsage, withJob } from '../../domain/usage.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import type { UsageRecorder } from './record-usage.ts';

export interface Quotas {
  /** The hard quota that refuses new work of the tenant. A promise only before the first use of a day. */
  exceeded(tenantId: TenantId): MaybePromise<QuotaState | undefined>;
  /** A quota that the tenant has reached, the one that ends last first; from memory. */
  reached(tenantId: TenantId): QuotaState | undefined;
  /** All quotas of the tenant, as the store knows them now. */
  read(tenantId: TenantId): Promise<readonly QuotaState[]>;
  /** This instance has counted a job. */
  counted(tenantId: TenantId, stages: readonly StageUsage[], at: number): void;
}

interface Known {
  readonly totals: PeriodTotals;
  readonly readAt: number;
}

const READ_AGAIN_MS = 5_000;
const MAX_TENANTS = 10_000;

export function createQuotas(deps: {
  readonly of: (tenantId: TenantId) => readonly Quota[];
  readonly store: Pick<UsageStore, 'totals'>;
  readonly unwritten: UsageRecorder['unwritten'];
  readonly clock: Clock;
  readonly log: Log;
}): Quotas {
  const { of, store, unwritten, clock, log } = deps;
  const tenants = createBoundedMap<TenantId, Known>({ max: MAX_TENANTS });
  const reading = new Map<TenantId, Promise<Known | undefined>>();

  async function read(tenantId: TenantId): Promise<Known | undefined> {
    const at = clock.now();
    try {
      let totals = await store.totals(tenantId, at);
      for (const { usage } of unwritten(tenantId)) totals = added(totals, usage.stages, usage.at, at);
      const known = { totals, readAt: at };
      tenants.set(tenantId, known);
      return known;
    } catch (fault) {
      // A quota is no safety limit: without the store the last known sums count.
      log.warn({ tenant_id: tenantId, err: fault }, 'the usage of a tenant could not be read for its quota');
      return undefined;
    } finally {
      reading.delete(tenantId);
    }
  }

  function readOnce(tenantId: TenantId): Promise<Known | undefined> {
    const running = reading.get(tenantId);
    if (running !== undefined) return running;
    const started = read(tenantId);
    reading.set(tenantId, started);
    return started;
  }

  /** Undefined: it must be read first. */
  function current(tenantId: TenantId): Known | undefined {
    const known = tenants.get(tenantId);
    const now = clock.now();
    if (known === undefined || dayOf(known.readAt) !== dayOf(now)) return undefined;
    if (now - known.readAt >= READ_AGAIN_MS) void readOnce(tenantId);
    return known;
  }

  const states = (tenantId: TenantId, known: Known | undefined): readonly QuotaState[] =>
    known === undefined ? [] : of(tenantId).map((quota) => stateOf(quota, known.totals, clock.now()));

  const lastToEnd = (states: readonly QuotaState[]): QuotaState | undefined =>
    states.reduce<QuotaState | undefined>(
      (last, state) => (last === undefined || state.resetsAt > last.resetsAt ? state : last),
      undefined,
    );

  const exceededBy = (tenantId: TenantId, known: Known | undefined): QuotaState | undefined =>
    lastToEnd(states(tenantId, known).filter(isExceeded));

  return {
    exceeded(tenantId) {
      if (of(tenantId).length === 0) return undefined;
      const known = current(tenantId);
      if (known !== undefined) return exceededBy(tenantId, known);
      return readOnce(tenantId).then((found) => exceededBy(tenantId, found));
    },
    reached(tenantId) {
      if (of(tenantId).length === 0) return undefined;
      return lastToEnd(states(tenantId, current(tenantId)).filter(isReached));
    },
    async read(tenantId) {
      if (of(tenantId).length === 0) return [];
      return states(tenantId, await readOnce(tenantId));
    },
    counted(tenantId, stages, at) {
      const known = tenants.get(tenantId);
      if (known === undefined) return;
      tenants.set(tenantId, { ...known, totals: added(known.totals, stages, at, known.readAt) });
    },
  };
}

/** `readAt`: a time in the day and month that the totals are of. */
const added = (
  { day, month }: PeriodTotals,
  stages: readonly StageUsage[],
  at: number,
  readAt: number,
): PeriodTotals => ({
  day: dayOf(at) === dayOf(readAt) ? withJob(day, stages) : day,
  month: monthOf(at) === monthOf(readAt) ? withJob(month, stages) : month,
});
