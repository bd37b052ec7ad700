/** The memory of the last attempts on each node. */
import { describe, expect, it } from 'vitest';
import type { JobRecord, TimelineEntry } from '../../../src/domain/job.ts';
import { createRecentAttempts, MAX_RECENT_ATTEMPTS } from '../../../src/runtime/attempts/recent-attempts.ts';
import { draftJob } from '../../contracts/job-draft.ts';

const entry = (state: JobRecord['state'], at: number, attempt: number, reason?: string): TimelineEntry => ({
  state,
  at,
  attempt,
  nodeId: 'node-a',
  ...(reason !== undefined && { reason }),
});

function jobWith(timeline: readonly TimelineEntry[], parts: Partial<JobRecord> = {}): JobRecord {
  const { state, attempt } = timeline.at(-1) as TimelineEntry;
  return draftJob(0, { timeline, state, fence: { nodeId: 'node-a', attempt }, ...parts });
}

const finished = (jobId: string, at: number): JobRecord =>
  jobWith([entry('RESERVED', at, 1), entry('RUNNING', at + 10, 1), entry('FINISHED', at + 30, 1)], { jobId });

describe('the recent attempts of a node', () => {
  it('has the outcome, duration and reason of each, newest first', () => {
    const attempts = createRecentAttempts({ maxNodes: 10 });
    attempts.note(finished('job-1', 100));
    attempts.note(
      jobWith([entry('RESERVED', 200, 1), entry('RETRYING', 3_200, 1, 'ACK_TIMEOUT')], { jobId: 'job-2' }),
    );
    const failure = { code: 'JOB_CANCELLED', message: '' };
    attempts.note(jobWith([entry('RESERVED', 300, 1), entry('FAILED', 400, 1)], { jobId: 'job-3', failure }));
    expect(attempts.of('node-a')).toEqual([
      {
        jobId: 'job-3',
        attempt: 1,
        outcome: 'cancelled',
        reason: 'JOB_CANCELLED',
        endedAt: 400,
        durationMs: 100,
      },
      {
        jobId: 'job-2',
        attempt: 1,
        outcome: 'failed',
        reason: 'ACK_TIMEOUT',
        endedAt: 3_200,
        durationMs: 3_000,
      },
      { jobId: 'job-1', attempt: 1, outcome: 'finished', endedAt: 130, durationMs: 30 },
    ]);
    expect(attempts.of('node-b')).toEqual([]);
  });

  it('counts an attempt once, and a late result replaces its failure', () => {
    const attempts = createRecentAttempts({ maxNodes: 10 });
    const abandoned = [entry('RESERVED', 0, 1), entry('RETRYING', 3_000, 1, 'ACK_TIMEOUT')];
    attempts.note(jobWith(abandoned, { jobId: 'job-1' }));
    attempts.note(jobWith([...abandoned, entry('RETRYING', 3_001, 1, 'no_slot')], { jobId: 'job-1' }));
    const failure = { code: 'ACK_TIMEOUT', message: '' };
    attempts.note(jobWith([...abandoned, entry('FAILED', 9_000, 1)], { jobId: 'job-1', failure }));
    expect(attempts.of('node-a')).toMatchObject([{ outcome: 'failed', durationMs: 3_000 }]);
    attempts.note(jobWith([...abandoned, entry('FINISHED', 4_000, 1)], { jobId: 'job-1' }));
    expect(attempts.of('node-a')).toMatchObject([{ outcome: 'finished', durationMs: 4_000 }]);
  });

  it('I11: is bounded by attempts and by nodes', () => {
    const attempts = createRecentAttempts({ maxNodes: 2 });
    for (let count = 0; count < 50; count += 1) attempts.note(finished(`job-${count}`, count));
    expect(attempts.of('node-a')).toHaveLength(MAX_RECENT_ATTEMPTS);
    expect(attempts.of('node-a')[0]?.jobId).toBe('job-49');
    for (const nodeId of ['node-b', 'node-c'])
      attempts.note({ ...finished('job-x', 0), fence: { nodeId, attempt: 1 } });
    expect(attempts.of('node-a')).toEqual([]);
  });
});
