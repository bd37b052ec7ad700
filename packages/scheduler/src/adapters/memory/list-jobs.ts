/** Pages through the memory store's jobs, newest first, with bounded work per page. */
import type { JobPage, JobQuery } from '../../ports/job-store.ts';
import type { JobShelf, Stored } from './job-shelf.ts';

/** A page ends after so many records even if few passed the filter; its cursor goes on from there. */
const MAX_SCANNED = 5_000;

export function listJobs(shelf: JobShelf, query: JobQuery): JobPage {
  let job = query.cursor === undefined ? shelf.newest() : after(shelf, query.cursor);
  const jobs: Stored[] = [];
  let last: Stored | undefined;
  for (let scanned = 0; job !== undefined && jobs.length < query.limit && scanned < MAX_SCANNED; scanned++) {
    const isWanted =
      (query.tenantId === undefined || job.tenantId === query.tenantId) &&
      (query.state === undefined || job.state === query.state);
    if (isWanted) jobs.push(job);
    last = job;
    job = job.older;
  }
  if (job === undefined || last === undefined) return { jobs };
  return { jobs, cursor: `${last.seq}.${last.jobId}` };
}

/** The record after the cursor's. The cursor's own may be gone by now; its number still says where to go on. */
function after(shelf: JobShelf, cursor: string): Stored | undefined {
  const dot = cursor.indexOf('.');
  const seq = Number(cursor.slice(0, dot));
  if (!Number.isFinite(seq)) return undefined;
  const same = shelf.get(cursor.slice(dot + 1));
  if (same !== undefined && same.seq === seq) return same.older;
  let job = shelf.newest();
  while (job !== undefined && job.seq >= seq) job = job.older;
  return job;
}
