/** The results of declared scenarios, as text: contestants side by side with ratios, and the thresholds. */
import type { Figure } from '../measure.ts';
import type { Judged } from '../scenario/judge.ts';
import type { Point, Result, ScenarioReport } from '../scenario/run-scenario.ts';
import { shownAt } from '../scenario/scenario.ts';
import { FIGURE_IDS, FIGURES, type FigureId, OURS, titleOf, type Who } from '../scenario/vocabulary.ts';
import { amount, columns, promise } from '../show.ts';

export const contestantsOf = ({ scenario }: ScenarioReport): readonly Who[] => [OURS, ...scenario.peers];

export const targetOf = ({ comparison, target }: Judged): NonNullable<Figure['target']> =>
  comparison === 'at_least' ? { atLeast: target } : { atMost: target };

/** The search reached its highest rate: the real limit is unknown. */
const isUnfound = (result: Result | undefined, id: FigureId): boolean =>
  id === 'saturation_per_second' && result?.saturation?.isFound === false;

/** One by one, as suites have them; targets come last. */
export function figuresOf(report: ScenarioReport): Figure[] {
  const scenario = report.scenario.name;
  const measured = report.points.flatMap(({ value, results }) =>
    contestantsOf(report).flatMap((who) =>
      FIGURE_IDS.flatMap((id): Figure[] => {
        const seen = results[who]?.figures[id];
        if (seen === undefined) return [];
        const at = shownAt(report.scenario, value);
        const name = `${titleOf(who)}: ${FIGURES[id].title}${at === '' ? '' : `, ${at}`}`;
        const isMore = isUnfound(results[who], id);
        return [
          { scenario, name, value: seen, unit: FIGURES[id].unit, ...(isMore && { isMore: true as const }) },
        ];
      }),
    ),
  );
  const promised = report.judged.map(
    (judged): Figure => ({
      scenario,
      name: judged.what,
      value: judged.value,
      unit: judged.unit,
      target: targetOf(judged),
    }),
  );
  return [...measured, ...promised];
}

/** Figures that any contestant has at this point, in the order of the vocabulary. */
export const figuresAt = ({ results }: Point): readonly FigureId[] =>
  FIGURE_IDS.filter((id) => Object.values(results).some(({ figures }) => figures[id] !== undefined));

export interface ContestRow {
  readonly title: string;
  readonly unit: string;
  /** Of each contestant, in their order. */
  readonly values: readonly (number | undefined)[];
  /** Of each: it is more than that. */
  readonly areMore: readonly boolean[];
  /** Our figure divided by that of each peer; none where one of them is only known to be more. */
  readonly ratios: readonly (number | undefined)[];
}

export function contestRows(report: ScenarioReport, point: Point): readonly ContestRow[] {
  return figuresAt(point).map((id) => {
    const values = contestantsOf(report).map((who) => point.results[who]?.figures[id]);
    const areMore = contestantsOf(report).map((who) => isUnfound(point.results[who], id));
    const [ours, ...others] = values;
    return {
      ...FIGURES[id],
      values,
      areMore,
      ratios: others.map((other, index) =>
        ours === undefined || other === undefined || other === 0 || areMore[0] || areMore[index + 1]
          ? undefined
          : ours / other,
      ),
    };
  });
}

const shown = (value: number | undefined, isMore = false): string =>
  value === undefined ? '' : `${isMore ? 'more than ' : ''}${amount(value)}`;

export function contestTables(report: ScenarioReport): string[] {
  const { scenario, points } = report;
  const [, ...peers] = contestantsOf(report);
  const head = ['', 'unit', OURS, ...peers.flatMap((who) => [titleOf(who), '×'])];
  const right = new Set(head.map((_, column) => column).slice(2));
  const rows = points.flatMap((point) =>
    contestRows(report, point).map(({ title, unit, values: [ours, ...others], areMore, ratios }) => [
      [shownAt(scenario, point.value), title].filter((part) => part !== '').join(': '),
      unit,
      shown(ours, areMore[0]),
      ...others.flatMap((other, index) => [shown(other, areMore[index + 1]), shown(ratios[index])]),
    ]),
  );
  return [`${scenario.name}: ${scenario.title}\n\n${columns([head, ...rows], right)}`];
}

/** Empty without thresholds. */
export function thresholdTable(reports: readonly ScenarioReport[]): string[] {
  const rows = reports.flatMap(({ scenario, judged }) =>
    judged.map((each) => [
      scenario.name,
      each.what,
      amount(each.value),
      each.unit,
      promise({ target: targetOf(each) }),
      each.isMet ? 'met' : 'MISSED',
    ]),
  );
  if (rows.length === 0) return [];
  return [columns([['scenario', 'promised', 'value', 'unit', 'target', ''], ...rows], new Set([2]))];
}
