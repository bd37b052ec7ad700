/** Simulation: the indexes of each instance's jobs on its shard: those it drives and those it settled lately. */
import type { JobId } from '../../../domain/ids.ts';
import type { Shard } from '../shard.ts';

export interface Position {
  readonly jobId: JobId;
  readonly deadlineAt: number;
}

export interface IndexChanges {
  readonly begun: readonly Position[];
  readonly ended: readonly Position[];
  readonly dropped: readonly JobId[];
}

export interface IndexLimits {
  readonly liveMarginMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
}

const SWEEP_EVERY = 64;

export function indexJobs(
  shard: Shard,
  instanceId: string,
  { begun, ended, dropped }: IndexChanges,
  { liveMarginMs, retentionMs, maxRetained }: IndexLimits,
): void {
  const now = shard.now();
  const { driven: allDriven, settled: allSettled } = shard.state;
  const driven = allDriven.get(instanceId, now) ?? new Map<JobId, number>();
  const settled = allSettled.get(instanceId, now) ?? new Map<JobId, number>();
  const drivenUntil = allDriven.until(instanceId, now);
  let latest = 0;
  for (const { jobId, deadlineAt } of begun) {
    driven.set(jobId, deadlineAt);
    latest = Math.max(latest, deadlineAt);
  }
  for (const { jobId, deadlineAt } of ended) {
    driven.delete(jobId);
    settled.set(jobId, deadlineAt);
  }
  for (const jobId of dropped) {
    driven.delete(jobId);
    settled.delete(jobId);
  }
  dropOver(driven, now - liveMarginMs);
  // Not at every write: what was deleted from the front of a large map is passed over by whoever looks there next.
  if (settled.size % SWEEP_EVERY === 0) dropOver(settled, now - liveMarginMs - retentionMs);
  if (settled.size >= maxRetained + SWEEP_EVERY) dropFirst(settled, settled.size - maxRetained);
  const lifeMs = Math.max(latest - now, 0) + liveMarginMs;
  if (driven.size === 0) allDriven.delete(instanceId);
  else if (begun.length > 0) allDriven.put(instanceId, driven, Math.max(drivenUntil, now + lifeMs));
  if (settled.size === 0) allSettled.delete(instanceId);
  else if (ended.length > 0) allSettled.put(instanceId, settled, now + retentionMs + liveMarginMs);
}

/** Deadlines come nearly in the order of the jobs: the first that is not over ends the search. */
function dropOver(index: Map<JobId, number>, over: number): void {
  for (const [jobId, deadlineAt] of index) {
    if (deadlineAt > over) return;
    index.delete(jobId);
  }
}

function dropFirst(index: Map<JobId, number>, count: number): void {
  let left = count;
  for (const jobId of index.keys()) {
    if (left === 0) return;
    index.delete(jobId);
    left -= 1;
  }
}

export type IndexName = 'driven' | 'settled';

/** All of them, latest deadlines first; equal ones by their ids, backwards. */
export function readIndex(shard: Shard, instanceId: string, name: IndexName): readonly Position[] {
  const index = shard.state[name].get(instanceId, shard.now()) ?? new Map<JobId, number>();
  return [...index].map(([jobId, deadlineAt]) => ({ jobId, deadlineAt })).sort(isLaterFirst);
}

export const isLaterFirst = (one: Position, other: Position): number =>
  other.deadlineAt - one.deadlineAt || (one.jobId === other.jobId ? 0 : one.jobId < other.jobId ? 1 : -1);

export function leaveIndex(shard: Shard, instanceId: string, jobId: JobId): void {
  shard.state.driven.get(instanceId, shard.now())?.delete(jobId);
}

/** False, and nothing changes, while a job of it may be live. */
export function forgetIndexes(shard: Shard, instanceId: string, liveMarginMs: number): boolean {
  const now = shard.now();
  for (const deadlineAt of shard.state.driven.get(instanceId, now)?.values() ?? []) {
    if (deadlineAt > now - liveMarginMs) return false;
  }
  shard.state.driven.delete(instanceId);
  shard.state.settled.delete(instanceId);
  return true;
}
