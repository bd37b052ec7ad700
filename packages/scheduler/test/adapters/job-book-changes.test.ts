/** Owed moves as one: what two changes do together, and what is left of them for a record that they pass through. */
import { expect, it } from 'vitest';
import { both, isAsExpected, restOf } from '../../src/adapters/shared-jobs/owed-moves.ts';
import { changeTo, draftJob } from '../contracts/job-draft.ts';

const [FIRST, SECOND] = [
  { nodeId: 'node-1', attempt: 1 },
  { nodeId: 'node-2', attempt: 2 },
];
const of = (state: Parameters<typeof changeTo>[0], attempt: number) => ({ state, at: 0, attempt });

it.each([
  ['none is meant any more, and nothing else is said', null, undefined, null],
  ['a node is meant, and nothing else is said', FIRST, undefined, FIRST],
  ['another is meant', FIRST, SECOND, SECOND],
  ['none is meant after all', FIRST, null, null],
])('the node that a job is meant for is the one last said: %s', (_, before, then, meant) => {
  const first = changeTo('DISPATCHED', before === undefined ? {} : { intent: before });
  const second = changeTo('RUNNING', then === undefined ? {} : { intent: then });
  expect(both(first, second).intent).toEqual(meant);
});

it('a record is as expected by its state and its attempt, not by one of them', () => {
  const job = draftJob(0, { state: 'DISPATCHED', fence: SECOND });
  expect(isAsExpected(job, { state: 'DISPATCHED', fenceAttempt: 2 })).toBe(true);
  expect(isAsExpected(job, { state: 'DISPATCHED', fenceAttempt: 1 })).toBe(false);
  expect(isAsExpected(job, { state: 'RUNNING', fenceAttempt: 2 })).toBe(false);
});

it('what is left of a change is what comes after the state and attempt that were reached', () => {
  const passing = [of('DISPATCHED', 1), of('RETRYING', 1), of('DISPATCHED', 2)];
  const change = changeTo('RUNNING', { fence: SECOND, passing });
  const left = (state: 'DISPATCHED' | 'RUNNING' | 'RESERVED', fence: typeof FIRST) =>
    restOf(change, draftJob(0, { state, fence }))?.passing;
  expect(left('DISPATCHED', FIRST)).toEqual(passing.slice(1));
  expect(left('DISPATCHED', SECOND)).toEqual([]);
  expect(left('RUNNING', SECOND)).toBeUndefined();
  expect(left('RUNNING', FIRST)).toBeUndefined();
  expect(left('RESERVED', FIRST)).toBeUndefined();
});
