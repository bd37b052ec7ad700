/** Where the time of a job went, from its timeline. */
import { describe, expect, it } from 'vitest';
import type { JobState, TimelineEntry } from '../../src/domain/job.ts';
import { attemptsOf, waitsOf } from '../../src/domain/job-stages.ts';

const timelineOf = (...steps: readonly [JobState, number, number, string?][]): TimelineEntry[] =>
  steps.map(([state, at, attempt, nodeId]) => ({ state, at, attempt, nodeId }));

const RETRIED = timelineOf(
  ['CREATED', 0, 0],
  ['RESERVED', 5, 1, 'n1'],
  ['DISPATCHED', 6, 1, 'n1'],
  ['RETRYING', 20, 1, 'n1'],
  ['RESERVED', 30, 2, 'n2'],
  ['DISPATCHED', 31, 2, 'n2'],
  ['RUNNING', 33, 2, 'n2'],
  ['FINISHED', 50, 2, 'n2'],
  ['RELEASED', 50, 2, 'n2'],
);

describe('stages of a job', () => {
  it('it waited before each attempt', () => {
    expect(waitsOf(RETRIED)).toEqual([
      { from: 0, to: 5 },
      { from: 20, to: 30 },
    ]);
    expect(waitsOf(RETRIED.slice(0, 4))).toEqual([{ from: 0, to: 5 }, { from: 20 }]);
  });

  it('each attempt has its node, its times and its end', () => {
    expect(attemptsOf(RETRIED)).toMatchObject([
      { attempt: 1, nodeId: 'n1', startAt: 5, reservedAt: 5, sentAt: 6, end: { state: 'RETRYING', at: 20 } },
      { attempt: 2, nodeId: 'n2', sentAt: 31, acknowledgedAt: 33, end: { state: 'FINISHED', at: 50 } },
    ]);
    expect(attemptsOf(RETRIED.slice(0, 7))[1]?.end).toBeUndefined();
  });

  it('the work of a node without acknowledgement counts from the send', () => {
    const legacy = timelineOf(
      ['CREATED', 0, 0],
      ['RESERVED', 0, 1, 'n1'],
      ['DISPATCHED', 2, 1, 'n1'],
      ['RUNNING', 40, 1, 'n1'],
      ['FINISHED', 40, 1, 'n1'],
      ['RELEASED', 40, 1, 'n1'],
    );
    expect(attemptsOf(legacy)[0]).toMatchObject({ sentAt: 2, acknowledgedAt: 2 });
  });
});
