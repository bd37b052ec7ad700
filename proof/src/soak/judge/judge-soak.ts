/** The result of a soak: every series with its verdict, and what did not return to its level. Pure. */
import type { Series } from '../measure/series.ts';
import { STEADY_AFTER_S } from '../rig/settings.ts';
import type { Soaked } from '../run-soak.ts';
import { type Judgement, judgeSeries } from './judge-series.ts';

export interface JudgedSeries extends Series {
  readonly judgement: Judgement;
}

export interface SoakReport extends Omit<Soaked, 'series'> {
  readonly seed: number;
  readonly instances: number;
  readonly replay: string;
  readonly warmUpSeconds: number;
  readonly series: readonly JudgedSeries[];
  /** Nothing grew, and everything returned to its level before the load. */
  readonly isClean: boolean;
}

/** A run without time for this much warm-up is too short to judge. */
const MOST_WARM_UP = 0.5;
const WARM_UP = 0.25;
/** Of series that are only shown: they have no verdict, but their level is checked. */
const NO_TOLERANCE = { partPerHour: 0, floor: 0 };

export const warmUpOf = (seconds: number): number =>
  Math.min(Math.max(seconds * WARM_UP, STEADY_AFTER_S), seconds * MOST_WARM_UP);

export function judgeSoak(
  soaked: Soaked,
  { seed, instances }: { readonly seed: number; readonly instances: number },
): SoakReport {
  const warmUpSeconds = warmUpOf(soaked.seconds);
  const series = soaked.series.map((each): JudgedSeries => {
    const points = each.points.filter(({ at }) => at >= warmUpSeconds);
    const judgement = judgeSeries(points, each.tolerance ?? NO_TOLERANCE);
    if (each.tolerance === undefined) return { ...each, judgement: { ...judgement, verdict: 'shown_only' } };
    // Before as much ends as begins, everything grows.
    const isSteady = warmUpSeconds >= STEADY_AFTER_S;
    return { ...each, judgement: isSteady ? judgement : { ...judgement, verdict: 'too_short' } };
  });
  const minutes = soaked.seconds / 60;
  return {
    ...soaked,
    seed,
    instances,
    replay: `npm run soak -- --minutes ${minutes} --seed ${seed} --instances ${instances}`,
    warmUpSeconds,
    series,
    isClean: soaked.left.length === 0 && growing(series).length === 0,
  };
}

export const growing = (series: readonly JudgedSeries[]): JudgedSeries[] =>
  series.filter(({ judgement }) => judgement.verdict === 'grows');
