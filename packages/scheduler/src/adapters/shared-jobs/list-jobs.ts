/**
 * Pages through the jobs of all instances, newest first: their indexes are merged by (deadline, id), which does not change when a
 * job moves to another index or to another instance. Bounded work per page, no global index, no scan.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { isListed } from '../../domain/job-query.ts';
import type { JobPage, JobQuery } from '../../ports/job-store.ts';

/** A page ends after so many records even if few passed the filter; its cursor continues there. */
const MAX_SCANNED = 1_000;
const CHUNK = 100;
/** With a selective filter, reading records one by one would take too many round trips. */
const LEAST_AT_ONCE = 16;

export interface Position {
  readonly deadlineAt: number;
  readonly jobId: JobId;
}

/** Reads one index downwards from a deadline, inclusive: at most `count` entries after the first `skip`. */
export type ReadIndex = (
  from: number | undefined,
  skip: number,
  count: number,
) => Promise<readonly Position[]>;

export async function listJobs(
  indexes: readonly ReadIndex[],
  read: (jobId: JobId) => Promise<JobRecord | undefined>,
  query: JobQuery,
): Promise<JobPage> {
  const start = query.cursor === undefined ? undefined : positionOf(query.cursor);
  if (query.cursor !== undefined && start === undefined) return { jobs: [] };
  const sources = indexes.map((index) => createSource(index, start));
  const jobs: JobRecord[] = [];
  let last = start;
  for (let scanned = 0; scanned < MAX_SCANNED && jobs.length < query.limit; ) {
    const count = Math.min(CHUNK, Math.max(query.limit - jobs.length, LEAST_AT_ONCE), MAX_SCANNED - scanned);
    const positions = await nextOf(sources, count);
    if (positions.length === 0) return { jobs };
    scanned += positions.length;
    const records = await Promise.all(positions.map(({ jobId }) => read(jobId)));
    for (const [index, record] of records.entries()) {
      last = positions[index];
      if (record !== undefined && isListed(record, query)) jobs.push(record);
      if (jobs.length === query.limit) break;
    }
    const isWhole = last === positions.at(-1);
    if (!isWhole) return page(jobs, last);
  }
  return (await nextOf(sources, 1)).length === 0 ? { jobs } : page(jobs, last);
}

const page = (jobs: readonly JobRecord[], last: Position | undefined): JobPage =>
  last === undefined ? { jobs } : { jobs, cursor: `${last.deadlineAt}.${last.jobId}` };

/** The next jobs of all sources, each once, even if two sources have it. */
async function nextOf(sources: readonly Source[], count: number): Promise<Position[]> {
  const found: Position[] = [];
  while (found.length < count) {
    const dry = sources.filter((source) => source.isDry());
    if (dry.length > 0) await Promise.all(dry.map((source) => source.fill()));
    let next: Position | undefined;
    for (const source of sources) {
      const head = source.head();
      if (head !== undefined && (next === undefined || isBelow(next, head))) next = head;
    }
    if (next === undefined) return found;
    found.push(next);
    for (const source of sources) source.pass(next);
  }
  return found;
}

interface Source {
  /** The buffer is empty, and the index may have more. */
  isDry(): boolean;
  fill(): Promise<void>;
  head(): Position | undefined;
  pass(position: Position): void;
}

function createSource(index: ReadIndex, start: Position | undefined): Source {
  /** In reverse order: the next one is the last element. */
  let waiting: Position[] = [];
  let last = start;
  let isOver = false;
  return {
    isDry: () => waiting.length === 0 && !isOver,
    async fill() {
      // Many jobs may share the deadline at which the last read ended; those that were returned already are skipped.
      for (let skip = 0; waiting.length === 0 && !isOver; skip += CHUNK) {
        const chunk = await index(last?.deadlineAt, skip, CHUNK);
        waiting = chunk.filter((position) => last === undefined || isBelow(position, last)).reverse();
        isOver = chunk.length < CHUNK;
      }
    },
    head: () => waiting.at(-1),
    pass(position) {
      if (waiting.at(-1)?.jobId === position.jobId) last = waiting.pop();
    },
  };
}

/** Whether the first comes after the second in a list. Every index sorts equal deadlines by id, so this does as well. */
const isBelow = (one: Position, other: Position): boolean =>
  one.deadlineAt === other.deadlineAt ? one.jobId < other.jobId : one.deadlineAt < other.deadlineAt;

function positionOf(cursor: string): Position | undefined {
  const dot = cursor.indexOf('.');
  const deadlineAt = Number(cursor.slice(0, dot));
  return dot <= 0 || !Number.isFinite(deadlineAt) ? undefined : { deadlineAt, jobId: cursor.slice(dot + 1) };
}
