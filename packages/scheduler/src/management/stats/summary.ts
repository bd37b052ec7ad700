/** Vocabulary: the figures of one instance in a span of time, and of all instances together. Pure. */
import { STAGE_BUCKETS } from '../../domain/metrics/metric-entry.ts';
import { quantile } from '../../domain/quantile.ts';

/** Events are counted. */
export const COUNTED = [
  'admitted',
  'finished',
  'failed',
  'cancelled',
  'retries',
  'takeovers',
  'reports',
] as const;
/** Levels are as they are at the end of the span. */
export const LEVELS = ['inFlight', 'waiting', 'oldestWaitMs', 'sessions', 'connected'] as const;

export type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;
export type Levels = Readonly<Record<(typeof LEVELS)[number], number>>;

/** A node on which most of the last attempts failed. */
export interface FailingNode {
  readonly nodeId: string;
  readonly failed: number;
  readonly of: number;
}

export interface Summary {
  readonly counts: Counts;
  /** By error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** By stage: observations per bucket of STAGE_BUCKETS. Stages without observations are absent. */
  readonly stages: Readonly<Record<string, readonly number[]>>;
  readonly levels: Levels;
  /** As this instance knows them. */
  readonly failing: readonly FailingNode[];
}

export interface StageTimes {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The figures of all instances in one span. */
export interface FiguresPoint {
  /** The end of the span. */
  readonly at: number;
  readonly spanMs: number;
  /** Instances whose figures it contains. */
  readonly instances: number;
  readonly counts: Counts;
  readonly refused: Readonly<Record<string, number>>;
  readonly levels: Levels;
  readonly stages: Readonly<Record<string, StageTimes>>;
}

/** What is added up over time and instances. */
export interface Sums {
  counts: Counts;
  refused: Record<string, number>;
  stages: Record<string, number[]>;
}

export const noSums = (): Sums => ({ counts: zeroes(COUNTED), refused: {}, stages: {} });

export function addTo(
  sums: Sums,
  { counts, refused, stages }: Pick<Summary, 'counts' | 'refused' | 'stages'>,
): void {
  sums.counts = mapNames(COUNTED, (name) => sums.counts[name] + counts[name]);
  for (const [code, count] of Object.entries(refused)) sums.refused[code] = (sums.refused[code] ?? 0) + count;
  for (const [stage, buckets] of Object.entries(stages)) {
    const known = sums.stages[stage];
    sums.stages[stage] =
      known === undefined ? [...buckets] : known.map((count, at) => count + (buckets[at] ?? 0));
  }
}

/** The oldest wait of all instances; other levels are added up. */
export function addLevels(all: Iterable<Levels>): Levels {
  let sum = zeroes(LEVELS);
  for (const levels of all) {
    const before = sum;
    sum = mapNames(LEVELS, (name) =>
      name === 'oldestWaitMs' ? Math.max(before[name], levels[name]) : before[name] + levels[name],
    );
  }
  return sum;
}

export function pointOf(
  { counts, refused, stages }: Sums,
  levels: Levels,
  span: Pick<FiguresPoint, 'at' | 'spanMs' | 'instances'>,
): FiguresPoint {
  return {
    ...span,
    counts,
    refused,
    levels,
    stages: Object.fromEntries(Object.entries(stages).map(([stage, buckets]) => [stage, timesOf(buckets)])),
  };
}

function timesOf(buckets: readonly number[]): StageTimes {
  const ms = (q: number): number => Math.round(quantile(q, STAGE_BUCKETS, buckets) * 1e6) / 1e3;
  return { count: buckets.reduce((sum, count) => sum + count, 0), p50Ms: ms(0.5), p99Ms: ms(0.99) };
}

/** I11: entries of one kind in a summary of another instance. */
const MAX_ENTRIES = 250;

/** Undefined: it is not a summary. Another instance may have another version, or be broken. */
export function readSummary(given: unknown): Summary | undefined {
  if (!isRecord(given)) return undefined;
  const { counts, refused, stages, levels, failing } = given;
  const isWhole =
    hasNumbers(counts, COUNTED) &&
    hasNumbers(levels, LEVELS) &&
    isRecord(refused) &&
    isRecord(stages) &&
    Object.values(refused).every(isCount) &&
    Object.values(stages).every(isBuckets) &&
    Object.keys(refused).length <= MAX_ENTRIES &&
    Object.keys(stages).length <= MAX_ENTRIES &&
    Array.isArray(failing) &&
    failing.length <= MAX_ENTRIES &&
    failing.every((each) => hasNumbers(each, ['failed', 'of']) && typeof each.nodeId === 'string');
  return isWhole ? (given as unknown as Summary) : undefined;
}

const isRecord = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);
const isCount = (given: unknown): boolean =>
  typeof given === 'number' && Number.isFinite(given) && given >= 0;
const isBuckets = (given: unknown): boolean =>
  Array.isArray(given) && given.length === STAGE_BUCKETS.length + 1 && given.every(isCount);
const hasNumbers = (given: unknown, names: readonly string[]): boolean =>
  isRecord(given) && names.every((name) => isCount(given[name]));

const mapNames = <Name extends string>(
  names: readonly Name[],
  numberOf: (name: Name) => number,
): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, numberOf(name)])) as Record<Name, number>;

const zeroes = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  mapNames(names, () => 0);
