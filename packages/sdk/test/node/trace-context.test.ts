/** The parent of a node's spans: the same ids that docs/operations.md tells others to compute. */
import { expect, it } from 'vitest';
import { traceContext } from '../../src/node/trace-context.ts';

const JOB = { trace_id: 'ticket-17', job_id: 'job-1', attempt_id: 2 };

it('trace and parent are derived from the job', () => {
  // printf %s ticket-17 | sha256sum; printf 'attempt job-1 2' | sha256sum
  expect(traceContext(JOB)).toEqual({
    traceId: 'c4b93dad7a6cb988bb4eec31de98972a',
    parentSpanId: '74ad558b4e9c8d40',
    traceparent: '00-c4b93dad7a6cb988bb4eec31de98972a-74ad558b4e9c8d40-01',
  });
});

it('a W3C trace id is used unchanged, unless W3C forbids it', () => {
  const given = '4BF92F3577B34DA6A3CE929D0E0E4736';
  expect(traceContext({ ...JOB, trace_id: given }).traceId).toBe(given.toLowerCase());
  expect(traceContext({ ...JOB, trace_id: '0'.repeat(32) }).traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
});
