/** Which of two records of a job is the older one. */
import { describe, expect, it } from 'vitest';
import type { JobRecord, JobState } from '../../../src/domain/job.ts';
import { changeJob, MAX_TIMELINE } from '../../../src/domain/job-change.ts';
import { isBehind } from '../../../src/runtime/attempts/record-move.ts';
import { draftJob } from '../../contracts/job-draft.ts';

let now = 0;
function moved(job: JobRecord, state: JobState, attempt = job.fence?.attempt ?? 1): JobRecord {
  now += 1;
  const at = { nodeId: `node-${attempt}`, attempt };
  const change = { state, entry: { state, at: now, ...at } };
  return changeJob(job, state === 'DISPATCHED' ? { ...change, fence: at } : change);
}

const draft = draftJob(0);
const reserved = moved(draft, 'RESERVED');
const dispatched = moved(reserved, 'DISPATCHED');
const retrying = moved(moved(dispatched, 'RUNNING'), 'RETRYING');

describe('isBehind', () => {
  it('orders every record of a history by age', () => {
    const history = [draft, reserved, dispatched, retrying];
    for (const [at, stored] of history.entries()) {
      expect(history.map((known) => isBehind(stored, known))).toEqual(history.map((_, other) => at < other));
    }
  });

  it('a record with a later attempt is newer than a longer one', () => {
    const later = moved(draft, 'DISPATCHED', 2);
    expect(later.timeline.length).toBeLessThan(retrying.timeline.length);
    expect([isBehind(later, retrying), isBehind(retrying, later)]).toEqual([false, true]);
  });

  it('a shorter record of the same attempt is older', () => {
    const rewritten = moved(reserved, 'DISPATCHED');
    expect([isBehind(rewritten, retrying), isBehind(retrying, rewritten)]).toEqual([true, false]);
  });

  it('records with a truncated timeline are compared by their last entries', () => {
    let earlier = retrying;
    while (earlier.timeline.length < MAX_TIMELINE) earlier = moved(earlier, 'RESERVED');
    earlier = moved(earlier, 'RETRYING');
    const later = moved(moved(earlier, 'RESERVED'), 'RETRYING');
    expect(later.timeline).toHaveLength(earlier.timeline.length);
    expect([isBehind(earlier, later), isBehind(later, earlier), isBehind(later, later)]).toEqual([
      true,
      false,
      false,
    ]);
    // Neither record contains the other's last entry: the stored record is kept.
    expect(isBehind(moved(earlier, 'FAILED'), later)).toBe(false);
  });
});
