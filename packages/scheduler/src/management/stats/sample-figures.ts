/** Cold path: what this instance counted since the last sample, read from its metrics. */
import { isCancellation } from '../../domain/job-query.ts';
import type { MeterReader } from '../../ports/meter.ts';
import { sumOf } from '../health/recent-figures.ts';
import type { FailingNode, Levels, Summary } from './summary.ts';

type Totals = Pick<Summary, 'counts' | 'refused' | 'stages'>;

export function createSampleFigures({
  reader,
  levels,
  failing,
}: {
  reader: MeterReader;
  levels: () => Levels;
  failing: () => readonly FailingNode[];
}): () => Summary {
  let before = readTotals();

  function readTotals(): Totals {
    const settled = (isMeant: (outcome: string | undefined, code: string) => boolean): number =>
      sumOf(reader, 'scheduler_jobs_settled_total', ({ outcome, code = '' }) => isMeant(outcome, code));
    const isFailure = (outcome: string | undefined): boolean => outcome === 'failed';
    return {
      counts: {
        admitted: sumOf(reader, 'scheduler_jobs_admitted_total'),
        finished: settled((outcome) => !isFailure(outcome)),
        failed: settled((outcome, code) => isFailure(outcome) && !isCancellation(code)),
        cancelled: settled((outcome, code) => isFailure(outcome) && isCancellation(code)),
        retries: sumOf(reader, 'scheduler_retries_total'),
        takeovers: sumOf(reader, 'scheduler_takeovers_total'),
        reports: sumOf(reader, 'scheduler_client_reports_total'),
      },
      refused: Object.fromEntries(
        reader.series('scheduler_jobs_refused_total').map(({ labels, value }) => [labels.code, value]),
      ),
      stages: Object.fromEntries(
        reader.distributions('scheduler_stage_seconds').map(({ labels, buckets }) => [labels.stage, buckets]),
      ),
    };
  }

  return () => {
    const now = readTotals();
    const since = before;
    before = now;
    return {
      counts: subtract(now.counts, since.counts),
      refused: present(subtract(now.refused, since.refused), (count) => count > 0),
      stages: present(
        Object.fromEntries(
          Object.entries(now.stages).map(([stage, buckets]) => {
            const earlier = since.stages[stage];
            return [stage, buckets.map((count, at) => count - (earlier?.[at] ?? 0))];
          }),
        ),
        (buckets) => buckets.some((count) => count > 0),
      ),
      levels: levels(),
      failing: failing(),
    };
  };
}

const subtract = <Names extends string>(
  now: Readonly<Record<Names, number>>,
  before: Readonly<Partial<Record<Names, number>>>,
): Record<Names, number> =>
  Object.fromEntries(
    (Object.entries(now) as [Names, number][]).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  ) as Record<Names, number>;

const present = <Value>(all: Readonly<Record<string, Value>>, isKept: (value: Value) => boolean) =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => isKept(value)));
