/** The result of a run: faults, work, invariants. As data, and as tables. Pure. */
import { printTable } from '../../../../packages/scheduler/dist/cli/print-table.js';
import { type HistoryEvent, ofKind } from '../../../../packages/simulation/dist/history.js';
import { printStory, printViolations } from '../../checker/print.ts';
import { type Finding, INVARIANTS, type Invariant } from '../../checker/violation.ts';
import { type Unavailability, unavailabilityOf } from './availability.ts';

export interface Summary {
  readonly replay: string;
  /** How late a timer fired at most: on a busy machine, times mean little. */
  readonly latestMs: number;
  readonly faults: readonly Unavailability[];
  readonly work: Readonly<Record<string, number>>;
  /** Figures that must be zero. */
  readonly broken: Readonly<Record<string, number>>;
  /** How often the harness tried to read what must not be visible, or sampled what must not grow. None: that was not judged. */
  readonly looks: Readonly<Record<string, number>>;
  /** How often each invariant could have been broken, and how often it was. */
  readonly promises: readonly {
    readonly promise: string;
    readonly judged: number;
    readonly broken: number;
  }[];
  /** Everything that the checker counted, with what a failover allows. */
  readonly counted: Readonly<Record<string, number>>;
  readonly violations: readonly {
    readonly invariant: string;
    readonly atMs: number;
    readonly message: string;
    readonly story: string;
  }[];
}

/** Violations whose story is in the data, too. */
const STORIES = 8;

export function summarise(
  history: readonly HistoryEvent[],
  finding: Finding,
  about: Pick<Summary, 'replay' | 'latestMs'>,
): Summary {
  const { violations, counts } = finding;
  const broken = (invariant: Invariant): number =>
    violations.filter((each) => each.invariant === invariant).length;
  const named = new Set<Invariant>(['nothing lost', 'I3 one outcome', 'I1 no oversell', 'I2 no leak']);
  const jobs = new Set(ofKind(history, 'accepted', 'assigned').map(({ job }) => job));
  const outcomes = ofKind(history, 'outcome');
  return {
    ...about,
    faults: unavailabilityOf(history),
    work: {
      requests: ofKind(history, 'asked').length,
      jobs: jobs.size,
      results: outcomes.filter(({ result }) => result !== undefined).length,
      'missing results': outcomes.filter(({ result }) => result === undefined).length,
      'never accepted': ofKind(history, 'abandoned').length,
      retries: ofKind(history, 'assigned').filter(({ attempt }) => attempt > 1).length,
    },
    broken: {
      lost: broken('nothing lost'),
      duplicated: broken('I3 one outcome'),
      oversold: broken('I1 no oversell'),
      leaked: broken('I2 no leak'),
      'other promises broken': violations.filter(({ invariant }) => !named.has(invariant)).length,
    },
    looks: {
      'jobs read by other tenants': ofKind(history, 'peeked').length,
      'levels sampled': ofKind(history, 'sampled').length,
    },
    promises: INVARIANTS.map((promise) => ({
      promise,
      judged: finding.judged?.[promise] ?? 0,
      broken: broken(promise),
    })),
    counted: counts,
    violations: violations.map((each, at) => ({
      invariant: each.invariant,
      atMs: Math.round(each.at),
      message: each.message,
      story: at < STORIES ? printStory(history, each) : '',
    })),
  };
}

export function printChaos(summary: Summary, history: readonly HistoryEvent[], finding: Finding): string {
  const { faults, work, broken, counted } = summary;
  const all = faults.reduce((sum, { count }) => sum + count, 0);
  const parts = [
    printTable(
      [
        { title: 'fault', cell: ({ kind }) => kind },
        { title: 'times', cell: ({ count }) => count },
        { title: 'longest without an acceptance', cell: ({ acceptingMs }) => seconds(acceptingMs) },
        { title: 'longest without a result', cell: ({ finishingMs }) => seconds(finishingMs) },
      ],
      faults,
    ),
    twoColumns('work', [['faults', all], ...Object.entries(work)]),
    twoColumns('must be 0', Object.entries(broken)),
    printTable(
      [
        { title: 'promise', cell: ({ promise }) => promise },
        { title: 'judged', cell: ({ judged }) => orNotJudged(judged) },
        { title: 'broken', cell: ({ broken: times }) => times },
      ],
      summary.promises,
    ),
    twoColumns(
      'looked at',
      Object.entries(summary.looks).map(([what, times]) => [what, orNotJudged(times)]),
    ),
    twoColumns('counted besides', [
      ...Object.entries(counted),
      ['latest timer of this process, ms', summary.latestMs],
    ]),
    printViolations(history, finding.violations),
  ];
  const hasFailed = finding.violations.length > 0;
  return [...parts, ...(hasFailed ? [`The same faults again: ${summary.replay}`] : [])].join('\n\n');
}

/** A figure that was never measured shows nothing. */
const orNotJudged = (times: number): number | string => (times === 0 ? 'not judged' : times);

const twoColumns = (title: string, rows: readonly (readonly [string, number | string])[]): string =>
  printTable(
    [
      { title, cell: ([name]) => name },
      { title: '', cell: ([, value]) => value },
    ],
    rows,
  );

const seconds = (ms: number | undefined): string => (ms === undefined ? '–' : `${(ms / 1_000).toFixed(2)} s`);
