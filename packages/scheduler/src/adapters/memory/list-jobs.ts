/** Pages through the memory store's jobs, newest first, with bounded work per page. */
import type { JobRecord } from '../../domain/job.ts';
import { isListed } from '../../domain/job-query.ts';
import type { JobPage, JobQuery } from '../../ports/job-store.ts';
import { type JobShelf, type Place, recordAt } from './job-shelf.ts';

/** A page ends after so many records even if few match the filter; its cursor continues there. */
const MAX_SCANNED = 5_000;

export function listJobs(shelf: JobShelf, query: JobQuery): JobPage {
  shelf.sweep();
  let place = query.cursor === undefined ? shelf.newest() : after(shelf, query.cursor);
  const jobs: JobRecord[] = [];
  let last: Place | undefined;
  for (
    let scanned = 0;
    place !== undefined && jobs.length < query.limit && scanned < MAX_SCANNED;
    scanned++
  ) {
    if (isListed(place.record, query)) jobs.push(recordAt(place));
    last = place;
    place = place.older;
  }
  if (place === undefined || last === undefined) return { jobs };
  return { jobs, cursor: `${last.seq}.${last.record.jobId}` };
}

/** The entry after the cursor. The cursor's own entry may have been dropped; its number still gives the position. */
function after(shelf: JobShelf, cursor: string): Place | undefined {
  const dot = cursor.indexOf('.');
  const seq = Number(cursor.slice(0, dot));
  if (!Number.isFinite(seq)) return undefined;
  const same = shelf.get(cursor.slice(dot + 1));
  if (same !== undefined && same.seq === seq) return same.older;
  let place = shelf.newest();
  while (place !== undefined && place.seq >= seq) place = place.older;
  return place;
}
