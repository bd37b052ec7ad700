/**
 * Port: what tenants have used, per hour, and in sum per day and month (UTC).
 *
 * The law: a job counts once, however often and by whichever instance it is added, as long as its repeats come within `REPEAT_MS` of each
 * other. It counts in the hour, day and month of its usage. Counts of one tenant are never in those of another. In one hour of one tenant at
 * most `MOST_COUNTS` different counts are kept; what exceeds them counts under the language `other`. Hours are kept for the retention that
 * the store was made with. A thrown error means *unknown*: some of the jobs may have been counted, and every call may be repeated.
 */
import type { TenantId } from '../domain/ids.ts';
import type { CountedJob, HourlyUsage, PeriodTotals } from '../domain/usage.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';

/** Longer than a job is in an index of its driver after its usage was written. */
export const REPEAT_MS = 900_000;
export const MOST_COUNTS = 5_000;
export const OTHER_LANGUAGES = 'other';

export interface UsageStore {
  add(tenantId: TenantId, jobs: readonly CountedJob[]): MaybePromise<void>;
  /** Of the day and the month that contain `at`. */
  totals(tenantId: TenantId, at: number): MaybePromise<PeriodTotals>;
  /** Hours with usage, in order, from `from` to before `to`. */
  read(
    tenantId: TenantId,
    range: { readonly from: number; readonly to: number },
  ): MaybePromise<readonly HourlyUsage[]>;
  /** Tenants that used something in that hour or later, and perhaps some that did so earlier. */
  tenants(sinceHour: number): MaybePromise<readonly TenantId[]>;
}
