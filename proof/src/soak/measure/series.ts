/** The series of a soak: what each measures, in which unit, how much growth is allowed, and whether it must return to its level. Data. */
import type { Tolerance } from '../judge/judge-series.ts';
import type { Point } from '../judge/trend.ts';

export type Unit = 'MB' | 'count' | 'ms';

export interface SeriesKind {
  readonly unit: Unit;
  /** Absent: shown, not judged. */
  readonly tolerance?: Tolerance;
  /** At rest it may be this much above its level before the load; absent: it need not return. */
  readonly afterwards?: number;
}

export interface Series extends SeriesKind {
  readonly group: string;
  readonly name: string;
  readonly points: readonly Point[];
}

const PART_PER_HOUR = 0.05;
const judged = (unit: Unit, floor: number, afterwards?: number): SeriesKind => ({
  unit,
  tolerance: { partPerHour: PART_PER_HOUR, floor },
  ...(afterwards !== undefined && { afterwards }),
});

/** Of each process. A heap that was just collected is what is really kept; the rest follows it with noise. */
export const PROCESS_SERIES = {
  'live heap without code': judged('MB', 1.6),
  'heap used': judged('MB', 12),
  'resident memory': judged('MB', 12),
  'external memory': judged('MB', 2),
  'array buffers': judged('MB', 2),
  // Nodes that poll have a request under way at times.
  'open files and sockets': judged('count', 6, 6),
  handles: judged('count', 6, 6),
  timers: judged('count', 10, 10),
  'event loop delay, p99': { unit: 'ms' },
  'longest GC pause': { unit: 'ms' },
} as const satisfies Record<string, SeriesKind>;

export type ProcessSeries = keyof typeof PROCESS_SERIES;

/** Proportional to the load, which depends on what else the machine does. A key that is left behind is found at rest. */
const [MANY, SOME] = [60, 40];

export const REDIS_SERIES = {
  keys: judged('count', MANY),
  memory: judged('MB', 0.5),
  'messages in inboxes': judged('count', 8, 0),
  'dead letters': judged('count', 1, 0),
} as const satisfies Record<string, SeriesKind>;

/** Written from time to time by one of the instances, for a few seconds: they exist by chance. */
const PASSING_KINDS = [
  'lock',
  'modelUnavailable',
  'statsPart',
  'statsSnapshot',
  'instanceFigures',
  // Kept for days.
  'usageHour',
  'usageDay',
  'usageMonth',
  'usageCounted',
  'usageTenants',
];
export const keysOf = (kind: string): SeriesKind =>
  judged('count', SOME, PASSING_KINDS.includes(kind) ? undefined : 0);

const MB = 1024 * 1024;
export const isBytes = (metric: string): boolean => metric.endsWith('_bytes');

/** Swept only when the next one comes, or a while after the last: they stay where they were when the load ended. */
const LAZY_LEVELS = [
  'scheduler_jobs_retained',
  'scheduler_jobs_retained_bytes',
  'scheduler_request_bindings',
  'scheduler_tenants_known',
];

/** Of a level that the scheduler reports, all instances together. */
export function levelOf(metric: string): SeriesKind {
  const isLazy = LAZY_LEVELS.includes(metric);
  return isBytes(metric)
    ? judged('MB', 0.25, isLazy ? undefined : 0)
    : judged('count', isLazy ? MANY : 15, isLazy ? undefined : 1);
}

export const asMb = (bytes: number): number => bytes / MB;
