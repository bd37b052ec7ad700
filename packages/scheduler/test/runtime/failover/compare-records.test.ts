/** Which of two records of a job is the earlier one. */
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

describe('a record', () => {
  it('is behind all that came of it, and not behind itself or what came before', () => {
    const history = [draft, reserved, dispatched, retrying];
    for (const [at, stored] of history.entries()) {
      expect(history.map((known) => isBehind(stored, known))).toEqual(history.map((_, other) => at < other));
    }
  });

  it('is ahead of a longer one if a later attempt holds its fence', () => {
    const later = moved(draft, 'DISPATCHED', 2);
    expect(later.timeline.length).toBeLessThan(retrying.timeline.length);
    expect([isBehind(later, retrying), isBehind(retrying, later)]).toEqual([false, true]);
  });

  it('is behind a longer one of the same attempt, though somebody wrote to it since', () => {
    const rewritten = moved(reserved, 'DISPATCHED');
    expect([isBehind(rewritten, retrying), isBehind(retrying, rewritten)]).toEqual([true, false]);
  });

  it('that has lost its middle is told apart by what it ends with', () => {
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
    // What neither has been through says nothing: the store is believed.
    expect(isBehind(moved(earlier, 'FAILED'), later)).toBe(false);
  });
});
