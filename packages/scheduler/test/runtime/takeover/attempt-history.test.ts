/** What the timeline of a record says about earlier attempts. */
import { describe, expect, it } from 'vitest';
import type { Attempt, JobRecord, JobState, TimelineEntry } from '../../../src/domain/job.ts';
import { attemptHistoryOf } from '../../../src/runtime/takeover/attempt-history.ts';

const entry = (state: JobState, attempt: number, nodeId?: string, reason?: string): TimelineEntry => ({
  state,
  at: 0,
  attempt,
  nodeId,
  reason,
});

function record(timeline: TimelineEntry[], fence?: Attempt, intent?: Attempt): JobRecord {
  const state = timeline.at(-1)?.state ?? 'CREATED';
  return {
    jobId: 'j',
    tenantId: 't',
    sessionId: 's',
    spec: {} as JobRecord['spec'],
    createdAt: 0,
    deadlineAt: 0,
    state,
    fence,
    intent,
    timeline,
  };
}

const CREATED = entry('CREATED', 0);

describe('the attempt history of a job', () => {
  it('is empty for a job that was never placed', () => {
    expect(attemptHistoryOf(record([CREATED]))).toEqual({
      attempts: 0,
      sentTo: [],
      retries: 0,
      nodesLost: 0,
      abandonedAttempt: 0,
      lastFailure: undefined,
    });
  });

  it('counts attempts, nodes, retries and lost nodes', () => {
    const history = attemptHistoryOf(
      record(
        [
          CREATED,
          entry('RESERVED', 1, 'a'),
          entry('DISPATCHED', 1, 'a'),
          entry('RETRYING', 1, 'a', 'WS_DISCONNECTED'),
          entry('RESERVED', 2, 'b'),
          entry('DISPATCHED', 2, 'b'),
          entry('RETRYING', 2, 'b', 'PROCESSING_ERROR'),
        ],
        { nodeId: 'b', attempt: 2 },
      ),
    );
    expect(history).toMatchObject({ attempts: 2, retries: 2, nodesLost: 1, abandonedAttempt: 2 });
    expect([...history.sentTo].sort()).toEqual(['a', 'b']);
    expect(history.lastFailure?.code).toBe('PROCESSING_ERROR');
  });

  it('does not count full nodes, duplicates or failed reserves', () => {
    const history = attemptHistoryOf(
      record(
        [
          CREATED,
          entry('RESERVED', 1, 'a'),
          entry('DISPATCHED', 1, 'a'),
          entry('RETRYING', 1, 'a', 'NODE_OVERLOADED'),
          entry('RETRYING', 1, 'a', 'no_slot'),
          entry('RETRYING', 1, 'a', 'DUPLICATE_JOB_ID'),
          entry('RETRYING', 1, 'a', 'no_slot'),
        ],
        { nodeId: 'a', attempt: 1 },
      ),
    );
    expect(history).toMatchObject({ retries: 0, nodesLost: 0 });
    expect(history.lastFailure?.code).toBe('DUPLICATE_JOB_ID');
  });

  it('excludes no node whose attempt number was used again', () => {
    const { sentTo, attempts } = attemptHistoryOf(
      record([CREATED, entry('RESERVED', 1, 'a'), entry('RESERVED', 1, 'b'), entry('DISPATCHED', 1, 'b')], {
        nodeId: 'b',
        attempt: 1,
      }),
    );
    expect([sentTo, attempts]).toEqual([['b'], 1]);
  });

  it('includes nodes whose delivery is unknown', () => {
    const unknown = attemptHistoryOf(
      record([CREATED, entry('RESERVED', 1, 'a'), entry('RESERVED', 2, 'b')], undefined, {
        nodeId: 'b',
        attempt: 2,
      }),
    );
    expect([[...unknown.sentTo].sort(), unknown.attempts]).toEqual([['a', 'b'], 2]);
    const unplaced = attemptHistoryOf(record([CREATED, entry('RESERVED', 1, 'a'), CREATED]));
    expect([unplaced.sentTo, unplaced.attempts, unplaced.abandonedAttempt]).toEqual([['a'], 1, 0]);
  });

  it('knows attempts that the timeline has lost', () => {
    const { attempts } = attemptHistoryOf(record([CREATED], { nodeId: 'a', attempt: 7 }));
    expect(attempts).toBe(7);
    const history = attemptHistoryOf(
      record([CREATED], { nodeId: 'a', attempt: 7 }, { nodeId: 'b', attempt: 8 }),
    );
    expect([history.attempts, [...history.sentTo].sort()]).toEqual([8, ['a', 'b']]);
  });

  it('counts an attempt as abandoned when its successor is being placed', () => {
    const fence = { nodeId: 'a', attempt: 1 };
    const tried = [CREATED, entry('RESERVED', 1, 'a'), entry('DISPATCHED', 1, 'a')];
    expect(attemptHistoryOf(record(tried, fence)).abandonedAttempt).toBe(0);
    const placing = [...tried, entry('RETRYING', 1, 'a', 'NODE_UNAVAILABLE'), entry('RESERVED', 2, 'b')];
    expect(attemptHistoryOf(record(placing, fence, { nodeId: 'b', attempt: 2 })).abandonedAttempt).toBe(1);
  });
});
