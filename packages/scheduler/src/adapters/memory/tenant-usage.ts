/** What one tenant has used, as plain values that can be copied. */
import type { JobId } from '../../domain/ids.ts';
import type { Stage } from '../../domain/stage.ts';
import {
  type Amounts,
  addAmounts,
  type CountedJob,
  dayOf,
  type HourlyUsage,
  hourOf,
  monthOf,
  NO_TOTALS,
  type PeriodTotals,
  type StageUsage,
  type UsageTotals,
  withJob,
} from '../../domain/usage.ts';
import { MOST_COUNTS, OTHER_LANGUAGES, REPEAT_MS } from '../../ports/usage-store.ts';

export interface TenantUsage {
  /** By hour, then by stage and language. Rows are replaced, not changed. */
  readonly hours: Map<number, Map<string, StageUsage>>;
  /** Of the newest days and months. */
  readonly days: Map<string, UsageTotals>;
  readonly months: Map<string, UsageTotals>;
  /** Jobs → when they were counted, oldest first. */
  readonly counted: Map<JobId, number>;
  lastHour: number;
}

const HOURS_PER_DAY = 24;
/** Results, and two amounts at most. */
const COUNTS_PER_ROW = 3;
/** A count may still belong to the period before this one. */
const PERIODS = 2;

export const createTenantUsage = (): TenantUsage => ({
  hours: new Map(),
  days: new Map(),
  months: new Map(),
  counted: new Map(),
  lastHour: 0,
});

export const copyTenantUsage = ({ hours, days, months, counted, lastHour }: TenantUsage): TenantUsage => ({
  hours: new Map([...hours].map(([hour, rows]) => [hour, new Map(rows)])),
  days: new Map(days),
  months: new Map(months),
  counted: new Map(counted),
  lastHour,
});

export function countJobs(
  usage: TenantUsage,
  jobs: readonly CountedJob[],
  by: { readonly now: number; readonly retentionDays: number; readonly maxCounted: number },
): void {
  for (const job of jobs) {
    if (usage.counted.has(job.jobId)) continue;
    usage.counted.set(job.jobId, by.now);
    countJob(usage, job);
  }
  for (const [jobId, at] of usage.counted) {
    if (at > by.now - REPEAT_MS && usage.counted.size <= by.maxCounted) break;
    usage.counted.delete(jobId);
  }
  const oldest = hourOf(by.now) - by.retentionDays * HOURS_PER_DAY;
  for (const hour of usage.hours.keys()) if (hour < oldest) usage.hours.delete(hour);
  for (const periods of [usage.days, usage.months])
    for (const period of [...periods.keys()].sort().slice(0, -PERIODS)) periods.delete(period);
}

function countJob(own: TenantUsage, { usage: { at, stages } }: CountedJob): void {
  const hour = hourOf(at);
  own.lastHour = Math.max(own.lastHour, hour);
  const rows = own.hours.get(hour) ?? new Map<string, StageUsage>();
  own.hours.set(hour, rows);
  for (const { stage, language, amounts } of stages) addRow(rows, stage, language, amounts);
  const [day, month] = [dayOf(at), monthOf(at)];
  own.days.set(day, withJob(own.days.get(day) ?? NO_TOTALS, stages));
  own.months.set(month, withJob(own.months.get(month) ?? NO_TOTALS, stages));
}

function addRow(rows: Map<string, StageUsage>, stage: Stage, language: string, amounts: Amounts): void {
  const name = `${stage} ${language}`;
  const row = rows.get(name);
  const isFull = row === undefined && (rows.size + 1) * COUNTS_PER_ROW > MOST_COUNTS;
  if (isFull && language !== OTHER_LANGUAGES) {
    addRow(rows, stage, OTHER_LANGUAGES, amounts);
    return;
  }
  const sum = { ...row?.amounts };
  addAmounts(sum, amounts);
  rows.set(name, { stage, language, amounts: sum });
}

export const totalsAt = (usage: TenantUsage | undefined, at: number): PeriodTotals => ({
  day: usage?.days.get(dayOf(at)) ?? NO_TOTALS,
  month: usage?.months.get(monthOf(at)) ?? NO_TOTALS,
});

export const hoursIn = (
  usage: TenantUsage | undefined,
  { from, to }: { readonly from: number; readonly to: number },
): readonly HourlyUsage[] =>
  [...(usage?.hours ?? [])]
    .filter(([hour]) => hour >= from && hour < to)
    .sort(([one], [other]) => one - other)
    .map(([hour, rows]) => ({ hour, stages: [...rows.values()] }));
