/** Which jobs a search by an id contains. */
import { expect, it } from 'vitest';
import { isListed, type ListedJob } from '../../src/domain/job-query.ts';
import { requestIdOf } from '../../src/domain/plan.ts';

const job: ListedJob = {
  jobId: 'job-1',
  requestId: 'order-7',
  tenantId: 'acme',
  sessionId: 'room-1',
  fence: { nodeId: 'gpu-3', attempt: 1 },
  state: 'RUNNING',
  spec: { traceId: 'trace-9' },
};

it.each(['job-', 'order-7', 'acme', 'room', 'gpu-3', 'trace-9'])(
  'the beginning of any id finds the job: %s',
  (anyId) => expect(isListed(job, { anyId })).toBe(true),
);

it('an id in the middle finds nothing', () => {
  expect(isListed(job, { anyId: '7' })).toBe(false);
});

it('the request id of its caller finds a job that is one part of a plan', () => {
  const part = { ...job, requestId: requestIdOf('r/order-7', 'text:fr') };
  expect(isListed(part, { anyId: 'order-7' })).toBe(true);
  expect(isListed(part, { anyId: '~r/order-7/' })).toBe(true);
  expect(isListed(part, { anyId: 'text' })).toBe(false);
});
