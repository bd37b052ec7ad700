/** Vocabulary: quotas, what a tenant may use in a day or a month (UTC). Above a soft quota it is told so; above a hard one new work is refused. Pure. */
import type { PeriodTotals, UsageTotals } from './usage.ts';

export const QUOTA_UNITS = ['jobs', 'audio_seconds', 'characters', 'voice_seconds'] as const;
export type QuotaUnitName = (typeof QUOTA_UNITS)[number];

export const QUOTA_PERIODS = ['day', 'month'] as const;
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number];

/** At least one of `soft` and `hard` is given. */
export interface Quota {
  readonly period: QuotaPeriod;
  readonly unit: QuotaUnitName;
  readonly soft?: number | undefined;
  readonly hard?: number | undefined;
}

export interface QuotaState extends Quota {
  readonly used: number;
  /** When the period ends (epoch ms). */
  readonly resetsAt: number;
}

/** The first moment of the next day or month. */
export function endOfPeriod(period: QuotaPeriod, at: number): number {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

/** Seconds of recognised audio, translated characters, seconds of synthesised voice. */
function usedOf(unit: QuotaUnitName, { jobs, stages }: UsageTotals): number {
  switch (unit) {
    case 'jobs':
      return jobs;
    case 'audio_seconds':
      return (stages.asr?.audio_ms ?? 0) / 1_000;
    case 'characters':
      return stages.nmt?.characters ?? 0;
    case 'voice_seconds':
      return (stages.tts?.voice_ms ?? 0) / 1_000;
  }
}

export const stateOf = (quota: Quota, totals: PeriodTotals, at: number): QuotaState => ({
  ...quota,
  used: usedOf(quota.unit, totals[quota.period]),
  resetsAt: endOfPeriod(quota.period, at),
});

export const isExceeded = ({ used, hard }: QuotaState): boolean => hard !== undefined && used >= hard;

/** The tenant should know of it. */
export const isReached = ({ used, soft, hard }: QuotaState): boolean =>
  used >= Math.min(soft ?? Number.POSITIVE_INFINITY, hard ?? Number.POSITIVE_INFINITY);

export const describeQuota = (tenantId: string, { used, hard, unit, period, resetsAt }: QuotaState): string =>
  `tenant ${tenantId} has used ${Math.floor(used)} of ${hard} ${unit.replace('_', ' ')} of this ${period} (scheduler.quotas); new work is accepted from ${new Date(resetsAt).toISOString()}`;
