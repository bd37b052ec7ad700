/** Whose a dead letter is. */
import { expect, it } from 'vitest';
import { createTenantOfMessage } from '../../../src/cluster/messaging/tenant-of-message.ts';
import { draftJob } from '../../contracts/job-draft.ts';

const job = draftJob(0, { tenantId: 'acme' });
const tenantOf = createTenantOfMessage(async (jobId) => (jobId === job.jobId ? job : undefined));
const report = (jobId: string) =>
  `${jobId} ${JSON.stringify({ topic: 'report', from: 'a', body: { kind: 'finished', attempt: { nodeId: 'n', jobId, attempt: 1 }, result: { extra: { tenantId: 'other' } } } })}`;

it('a message about a job is of the tenant in the record, not of one that its text names', async () => {
  expect(await tenantOf(report(job.jobId))).toBe('acme');
});

it('a message about no job, or a job without a record, is of no known tenant', async () => {
  expect(await tenantOf('room-1 {"topic":"room","from":"a","body":{"roomId":"room-1"}}')).toBeUndefined();
  expect(await tenantOf(report('forgotten'))).toBeUndefined();
  expect(await tenantOf('not a message')).toBeUndefined();
});

it('a message whose record cannot be read is of no known tenant', async () => {
  const away = createTenantOfMessage(() => Promise.reject(new Error('no answer')));
  expect(await away(report(job.jobId))).toBeUndefined();
});
