/** Vocabulary: what tenants use: per stage and language, in results, milliseconds and characters. Pure. */
import type { JobId, TenantId } from './ids.ts';
import type { Stage } from './stage.ts';

/** `unmeasured`: results of which the amount of audio or voice is unknown. They are in `results`, too. */
export const USAGE_UNITS = ['results', 'unmeasured', 'audio_ms', 'characters', 'voice_ms'] as const;
export type UsageUnit = (typeof USAGE_UNITS)[number];

export type Amounts = Partial<Record<UsageUnit, number>>;

export interface StageUsage {
  readonly stage: Stage;
  /** Of `nmt` the pair, "zh>en". */
  readonly language: string;
  readonly amounts: Amounts;
}

/** What an accepted result has used. Decided once and kept in the record, so that every instance counts the same. */
export interface JobUsage {
  /** When the result was accepted, by the clock of its driver: the hour that it counts in. */
  readonly at: number;
  readonly stages: readonly StageUsage[];
}

export interface CountedJob {
  readonly jobId: JobId;
  readonly usage: JobUsage;
}

export interface HourlyUsage {
  /** Epoch hours: ms ÷ 3,600,000. */
  readonly hour: number;
  readonly stages: readonly StageUsage[];
}

/** Of all languages. `jobs` is the number of jobs, whatever their stages; the amounts are by stage. */
export interface UsageTotals {
  readonly jobs: number;
  readonly stages: Readonly<Partial<Record<Stage, Amounts>>>;
}

export interface PeriodTotals {
  readonly day: UsageTotals;
  readonly month: UsageTotals;
}

/** Counts one accepted result soon. `written`: called when the store has it; then no other instance needs to count it. */
export type CountUsage = (tenantId: TenantId, job: CountedJob, written?: () => void) => void;

/** What a job store does with the usage of the jobs that it settles. */
export interface UsageSink {
  readonly count: CountUsage;
  /** Counts it now. A thrown error means *unknown*; it may be repeated. */
  readonly write: (tenantId: TenantId, job: CountedJob) => Promise<void>;
}

const HOUR_MS = 3_600_000;

export const hourOf = (at: number): number => Math.floor(at / HOUR_MS);
export const startOfHour = (hour: number): number => hour * HOUR_MS;

/** Days and months are those of UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

export function addAmounts(sum: Amounts, more: Amounts): void {
  for (const unit of USAGE_UNITS) {
    const amount = more[unit];
    if (amount !== undefined && amount !== 0) sum[unit] = (sum[unit] ?? 0) + amount;
  }
}

export const NO_TOTALS: UsageTotals = { jobs: 0, stages: {} };

/** The totals and what one more job has used. */
export function withJob({ jobs, stages }: UsageTotals, used: readonly StageUsage[]): UsageTotals {
  const sums: Partial<Record<Stage, Amounts>> = { ...stages };
  for (const { stage, amounts } of used) {
    const sum = { ...sums[stage] };
    addAmounts(sum, amounts);
    sums[stage] = sum;
  }
  return { jobs: jobs + 1, stages: sums };
}
