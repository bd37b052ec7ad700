/** Planning: what a run says of a fleet of that size, and how sure that is. Pure. */
import type { FleetRun } from './run-fleet.ts';

/** With 95 % confidence, from batches of the run. */
export type Range = readonly [low: number, high: number];

export interface SizeFigures {
  readonly nodes: number;
  /** Of all nodes together. */
  readonly slots: number;
  /** Part of the slots that is busy on average. */
  readonly busy: number;
  /** Part of the jobs that were served and had to wait for a slot. */
  readonly waited: number;
  /** Waits of the jobs that were served. */
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly p99Range: Range;
  /** Part of all jobs. */
  readonly refused: number;
  readonly refusedRange: Range;
}

const BATCHES = 10;
/** Student's t for 95 % and one degree of freedom less than there are batches. */
const STUDENT_T = 2.262;

/** `from`: the first job that counts; those before it filled the empty fleet. */
export function sizeFigures(
  run: FleetRun,
  from: number,
  size: { nodes: number; slots: number },
): SizeFigures {
  const waits = run.waitsMs.subarray(from);
  const all = count(waits);
  const batches = Array.from({ length: BATCHES }, (_, at) =>
    count(waits.subarray(edge(waits.length, at), edge(waits.length, at + 1))),
  );
  const spanMs = (run.arrivedAt.at(-1) ?? 0) - (run.arrivedAt[from] ?? 0);
  const { sorted } = all;
  const p99Ms = quantileOf(sorted, 0.99);
  return {
    ...size,
    busy: Math.min(1, workOf(run, from) / (spanMs * size.slots)),
    waited: sorted.length === 0 ? 0 : 1 - firstAbove(sorted, 0) / sorted.length,
    meanMs: sorted.length === 0 ? 0 : sorted.reduce((sum, wait) => sum + wait, 0) / sorted.length,
    p50Ms: quantileOf(sorted, 0.5),
    p95Ms: quantileOf(sorted, 0.95),
    p99Ms,
    p99Range: around(
      p99Ms,
      batches.map((batch) => quantileOf(batch.sorted, 0.99)),
    ),
    refused: all.refused,
    refusedRange: around(
      all.refused,
      batches.map((batch) => batch.refused),
    ),
  };
}

/** The smallest value that this part of them does not exceed. */
export const quantileOf = (sorted: Float64Array, part: number): number =>
  sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;

interface Counted {
  readonly sorted: Float64Array;
  readonly refused: number;
}

function count(waits: Float64Array): Counted {
  const sorted = waits.filter((wait) => !Number.isNaN(wait)).sort();
  return { sorted, refused: waits.length === 0 ? 0 : 1 - sorted.length / waits.length };
}

const edge = (length: number, at: number): number => Math.floor((length * at) / BATCHES);

function workOf({ waitsMs, servicesMs }: FleetRun, from: number): number {
  let workMs = 0;
  for (let at = from; at < waitsMs.length; at++)
    if (!Number.isNaN(waitsMs[at])) workMs += servicesMs[at] as number;
  return workMs;
}

function firstAbove(sorted: Float64Array, value: number): number {
  const at = sorted.findIndex((wait) => wait > value);
  return at === -1 ? sorted.length : at;
}

/** Batch means: neighbours in a queue resemble one another, whole batches hardly do. */
function around(value: number, batches: readonly number[]): Range {
  const mean = batches.reduce((sum, each) => sum + each, 0) / batches.length;
  const variance = batches.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (batches.length - 1);
  const half = STUDENT_T * Math.sqrt(variance / batches.length);
  return [Math.max(0, value - half), value + half];
}
