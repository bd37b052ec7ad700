/** Numbers and verdicts for the terminal and the page. Pure. */
import type { Verdict } from '../judge/judge-series.ts';
import type { JudgedSeries, SoakReport } from '../judge/judge-soak.ts';
import type { Unit } from '../measure/series.ts';
import { SHORTENED } from '../rig/settings.ts';

export const VERDICTS: Readonly<Record<Verdict, string>> = {
  steady: 'steady',
  settles: 'settles',
  grows: 'GROWS',
  too_short: 'too short for a verdict',
  shown_only: 'shown only',
};

export function amount(value: number, unit: Unit): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size === 0 ? 0 : 2;
  const text = String(Number(value.toFixed(unit === 'count' ? Math.min(1, digits) : digits)));
  return unit === 'count' ? text : `${text} ${unit}`;
}

/** With its sign; infinite ones are unknown. */
export const perHour = (value: number, unit: Unit): string =>
  Number.isFinite(value) ? `${value > 0 ? '+' : ''}${amount(value, unit)}`.replace('-', '−') : '?';

const WORK: Readonly<Record<string, string>> = {
  nodesCut: 'node connections cut',
  nodesKilled: 'nodes killed and replaced',
  abandoned: 'streams and polls abandoned',
  resumed: 'sessions resumed',
  vanished: 'clients vanished',
};

export const workRows = (work: SoakReport['work']): [string, number][] =>
  Object.entries(work).map(([name, count]) => [WORK[name] ?? name, count]);

export function howJudged({ warmUpSeconds, seconds }: SoakReport): string {
  const judged = Math.round(seconds - warmUpSeconds);
  return (
    `Judged are the last ${judged} s of ${Math.round(seconds)} s. For this run ${SHORTENED}. ` +
    'The slope is the median of all slopes between 30 medians of neighbouring samples (Theil–Sen); "at least" is its lower bound ' +
    '(99.9 %, widened where neighbours resemble one another). A series GROWS if that bound is above 0, the slope is above both ' +
    '5 % of the level per hour and a floor over the judged time, and a third of it is left in the second half; otherwise it settles. ' +
    '"Sees from" is the smallest growth that this run would have called one: the longer a run, the smaller.'
  );
}

export function growthOf({ group, name, unit, judgement }: JudgedSeries): string {
  const { level } = judgement;
  const part =
    level === 0 ? '' : `, ${perHour((judgement.perHour / level) * 100, 'count')} % of ${amount(level, unit)}`;
  return `${group}: ${name} grows by ${perHour(judgement.perHour, unit)} per hour (at least ${perHour(judgement.perHourAtLeast, unit)}${part})`;
}

/** Whether the run was long enough to judge slopes. */
export const hasSlopes = ({ series }: Pick<SoakReport, 'series'>): boolean =>
  series.some(({ judgement }) => judgement.verdict !== 'too_short' && judgement.verdict !== 'shown_only');

export function conclusion(report: SoakReport): string {
  const { series, left, quietAfterSeconds, isClean } = report;
  const slopes = hasSlopes(report) ? 'Nothing grows' : 'The run was too short to judge slopes';
  if (isClean)
    return `${slopes}, and ${quietAfterSeconds?.toFixed(0)} s after the load everything was as before.`;
  const grew = series.filter(({ judgement }) => judgement.verdict === 'grows').length;
  return [
    ...(grew > 0 ? [`${grew} series grew`] : []),
    ...(left.length > 0 ? [`${left.length} did not go back after the load`] : []),
  ].join(', ');
}

/** Undefined: there were none. */
export function remarkOn(errors: SoakReport['errors']): string | undefined {
  const reported = Object.entries(errors).map(([message, count]) => `${message} (${count})`);
  if (reported.length === 0) return undefined;
  return `The instances logged errors, so this was no quiet run, and perhaps the machine was too busy: ${reported.join('; ')}.`;
}
