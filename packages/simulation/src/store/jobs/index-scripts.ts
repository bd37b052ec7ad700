/** Simulation: the indexes of each instance's jobs on its shard: those it drives and those it settled recently. */
import type {
  IndexChanges,
  IndexScripts,
} from '../../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import type { Position } from '../../../../scheduler/dist/adapters/shared-jobs/list-jobs.js';
import type { JobId } from '../../../../scheduler/dist/domain/ids.js';
import type { Lines } from '../servers/lines.ts';
import type { Shard } from '../servers/shard.ts';
import { keys, tags } from '../servers/tags.ts';

interface IndexLimits {
  readonly liveMarginMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
}

const SWEEP_EVERY = 64;

/** As the instance with this id uses them. */
export function createIndexScripts(deps: { lines: Lines; instanceId: string } & IndexLimits): IndexScripts {
  const { lines, instanceId: ownId } = deps;
  const ask = <T>(instanceId: string, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.instance(instanceId), what, run);
  const read = (instanceId: string, name: IndexName): Promise<readonly Position[]> =>
    ask(instanceId, `read-${name}`, (shard) => readIndex(shard, instanceId, name));

  return {
    note: (changes, now) =>
      ask(ownId, 'index-jobs', (shard) => indexJobs(shard, ownId, changes, { ...deps, now })),
    async driven(instanceId, limit) {
      return [...(await read(instanceId, 'driven'))].reverse().slice(0, limit);
    },
    async settled(instanceId, skip, count) {
      return (await read(instanceId, 'settled')).slice(skip, skip + count);
    },
    leave: (instanceId, jobId) =>
      ask(instanceId, 'leave-index', (shard) => leaveIndex(shard, instanceId, jobId)),
    forget: (instanceId) => ask(instanceId, 'forget-indexes', (shard) => forgetIndexes(shard, instanceId)),
    async all() {
      const others = await lines.ask(tags.key(keys.instances), 'list-instances', (shard) => [
        ...(shard.state.names.get(keys.instances, shard.now())?.keys() ?? []),
      ]);
      return [...new Set([ownId, ...others])].flatMap((instanceId) =>
        (['driven', 'settled'] as const).map(
          (name) => async (from: number | undefined, skip: number, count: number) =>
            (await read(instanceId, name))
              .filter(({ deadlineAt }) => from === undefined || deadlineAt <= from)
              .slice(skip, skip + count),
        ),
      );
    },
  };
}

function indexJobs(
  shard: Shard,
  instanceId: string,
  { begun, ended, dropped }: IndexChanges,
  { now: ownNow, liveMarginMs, retentionMs, maxRetained }: IndexLimits & { readonly now: number },
): void {
  const now = shard.now();
  const { driven: allDriven, settled: allSettled } = shard.state;
  const driven = allDriven.get(instanceId, now) ?? new Map<JobId, number>();
  const settled = allSettled.get(instanceId, now) ?? new Map<JobId, number>();
  const drivenUntil = allDriven.until(instanceId, now);
  let latest = 0;
  for (const [jobId, deadlineAt] of begun) {
    driven.set(jobId, deadlineAt);
    latest = Math.max(latest, deadlineAt);
  }
  for (const [jobId, deadlineAt] of ended) {
    driven.delete(jobId);
    settled.set(jobId, deadlineAt);
  }
  for (const jobId of dropped) {
    driven.delete(jobId);
    settled.delete(jobId);
  }
  dropOver(driven, ownNow - liveMarginMs);
  // Not at every write: the next read of a large map skips entries that were deleted at its front.
  if (settled.size % SWEEP_EVERY === 0) dropOver(settled, ownNow - liveMarginMs - retentionMs);
  if (settled.size >= maxRetained + SWEEP_EVERY) dropFirst(settled, settled.size - maxRetained);
  const ttlMs = Math.max(latest - ownNow, 0) + liveMarginMs;
  if (driven.size === 0) allDriven.delete(instanceId);
  else if (begun.size > 0) allDriven.put(instanceId, driven, Math.max(drivenUntil, now + ttlMs));
  if (settled.size === 0) allSettled.delete(instanceId);
  else if (ended.size > 0) allSettled.put(instanceId, settled, now + retentionMs + liveMarginMs);
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

type IndexName = 'driven' | 'settled';

/** All of them, latest deadlines first; equal ones by their ids, backwards. */
function readIndex(shard: Shard, instanceId: string, name: IndexName): readonly Position[] {
  const index = shard.state[name].get(instanceId, shard.now()) ?? new Map<JobId, number>();
  return [...index].map(([jobId, deadlineAt]) => ({ jobId, deadlineAt })).sort(isLaterFirst);
}

const isLaterFirst = (one: Position, other: Position): number =>
  other.deadlineAt - one.deadlineAt || (one.jobId === other.jobId ? 0 : one.jobId < other.jobId ? 1 : -1);

function leaveIndex(shard: Shard, instanceId: string, jobId: JobId): void {
  shard.state.driven.get(instanceId, shard.now())?.delete(jobId);
}

/** False, and nothing changes, while a job of it may be live. */
function forgetIndexes(shard: Shard, instanceId: string): boolean {
  if ((shard.state.driven.get(instanceId, shard.now())?.size ?? 0) > 0) return false;
  shard.state.driven.delete(instanceId);
  shard.state.settled.delete(instanceId);
  return true;
}
