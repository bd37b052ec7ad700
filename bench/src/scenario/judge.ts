/** Whether a scenario meets the thresholds of its file. Pure. */
import type { Point } from './run-scenario.ts';
import { type Scenario, shownAt, type Threshold } from './scenario.ts';
import { FIGURES, type FigureId, OURS, titleOf, type Who } from './vocabulary.ts';

export interface Judged extends Threshold {
  /** In words. */
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly isMet: boolean;
}

export const judge = (scenario: Scenario, points: readonly Point[]): readonly Judged[] =>
  scenario.thresholds.map((threshold) => judgeOne(scenario, points, threshold));

function judgeOne(scenario: Scenario, points: readonly Point[], threshold: Threshold): Judged {
  const { figure, comparison, target, against, at, over } = threshold;
  const pointAt = (value: number | undefined): Point | undefined =>
    value === undefined ? points[points.length - 1] : points.find((point) => point.value === value);
  const measured = (point: Point | undefined): number =>
    of(point, OURS, figure) / (against === undefined ? 1 : of(point, against, figure));
  const value = measured(pointAt(at)) / (over === undefined ? 1 : measured(pointAt(over)));
  const { title, unit } = FIGURES[figure];
  const what = [
    title,
    ...(against === undefined ? [] : [`÷ ${titleOf(against)}`]),
    ...(at === undefined ? [] : [`at ${shownAt(scenario, at)}`]),
    ...(over === undefined ? [] : [`÷ at ${shownAt(scenario, over)}`]),
  ].join(' ');
  return {
    ...threshold,
    what,
    unit: against === undefined && over === undefined ? unit : '×',
    value,
    // What could not be measured is not met.
    isMet: comparison === 'at_least' ? value >= target : value <= target,
  };
}

const of = (point: Point | undefined, who: Who, figure: FigureId): number =>
  point?.results[who]?.figures[figure] ?? Number.NaN;
