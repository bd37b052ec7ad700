/** Simulation: pages through the jobs of all instances, newest first. Cold path: for people to look at. */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { JobPage, JobQuery } from '../../../ports/job-store.ts';
import type { Lines } from '../lines.ts';
import { keys, tags } from '../tags.ts';
import { isLaterFirst, type Position, readIndex } from './index-scripts.ts';

const CHUNK = 100;
/** A page ends after so many records even if few passed the filter. */
const MAX_SCANNED = 1_000;

export async function listJobs(
  deps: {
    lines: Lines;
    instanceId: string;
    get: (jobId: JobId) => Promise<JobRecord | undefined>;
  },
  query: JobQuery,
): Promise<JobPage> {
  const start = query.cursor === undefined ? undefined : positionOf(query.cursor);
  if (query.cursor !== undefined && start === undefined) return { jobs: [] };
  const all = await positions(deps.lines, deps.instanceId);
  const left = all.filter((position) => start === undefined || isLaterFirst(start, position) < 0);
  const jobs: JobRecord[] = [];
  for (let from = 0; from < left.length && from < MAX_SCANNED; from += CHUNK) {
    const some = left.slice(from, from + CHUNK);
    const records = await Promise.all(some.map(({ jobId }) => deps.get(jobId)));
    for (const [at, record] of records.entries()) {
      if (record !== undefined && isWanted(record, query)) jobs.push(record);
      if (jobs.length === query.limit) return page(jobs, some[at], from + at + 1 < left.length);
    }
  }
  return page(jobs, left[MAX_SCANNED - 1], left.length > MAX_SCANNED);
}

async function positions(lines: Lines, instanceId: string): Promise<readonly Position[]> {
  const others = await lines.ask(tags.key(keys.instances), 'list-instances', (shard) => [
    ...(shard.state.names.get(keys.instances, shard.now())?.keys() ?? []),
  ]);
  const indexes = await Promise.all(
    [...new Set([instanceId, ...others])].map((each) =>
      lines.ask(tags.instance(each), 'read-indexes', (shard) => [
        ...readIndex(shard, each, 'driven'),
        ...readIndex(shard, each, 'settled'),
      ]),
    ),
  );
  const unique = new Map(indexes.flat().map((position) => [position.jobId, position]));
  return [...unique.values()].sort(isLaterFirst);
}

const isWanted = (record: JobRecord, { tenantId, state }: JobQuery): boolean =>
  (tenantId === undefined || record.tenantId === tenantId) && (state === undefined || record.state === state);

const page = (jobs: readonly JobRecord[], last: Position | undefined, isMore: boolean): JobPage =>
  isMore && last !== undefined ? { jobs, cursor: `${last.deadlineAt}.${last.jobId}` } : { jobs };

function positionOf(cursor: string): Position | undefined {
  const dot = cursor.indexOf('.');
  const deadlineAt = Number(cursor.slice(0, dot));
  return dot <= 0 || !Number.isFinite(deadlineAt) ? undefined : { deadlineAt, jobId: cursor.slice(dot + 1) };
}
