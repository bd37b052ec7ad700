/** Fill levels of all bounded structures on /metrics (I11). */
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startApp } from './support/start-app.ts';

const PULLS = {
  node_id: 'node-pull',
  health: 'ready',
  semantic_langs: ['en', 'zh'],
  nmt_pairs: [['en', 'zh']],
  tts_langs: ['zh'],
  max_concurrent_jobs: 4,
};

it('/metrics shows the levels of mailboxes, bindings, subscriptions and jobs', async () => {
  const app = await startApp();
  const level = async (series: string) => {
    const { body } = await app.get<string>('/metrics');
    const line = body.split('\n').find((text) => text.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  await app.post('/v1/node/register', PULLS);
  await app.readyNodes(1);
  const { job_id: jobId } = await app.dispatch({ request_id: 'req-1' });
  expect(await level('scheduler_mailbox_jobs{of="all"}')).toBe(1);
  expect(await level('scheduler_mailbox_jobs{of="fullest"}')).toBe(1);
  expect(await level('scheduler_request_bindings')).toBe(1);
  expect(await level('scheduler_jobs_retained')).toBe(0);
  expect(await level('scheduler_http_waits{kind="caller"}')).toBe(0);

  const waiting = app.settled(jobId);
  await eventually(async () => expect(await level('scheduler_job_listeners')).toBe(1));
  expect(await level('scheduler_http_waits{kind="caller"}')).toBe(1);

  await app.post(`/v1/job/${jobId}/cancel`);
  await waiting;
  expect(await level('scheduler_jobs_retained')).toBe(1);
  expect(await level('scheduler_jobs_retained_bytes')).toBeGreaterThan(0);
  expect(await level('scheduler_request_bindings')).toBe(0);
  expect(await level('scheduler_mailbox_jobs{of="all"}')).toBe(0);
  expect(await level('scheduler_job_listeners')).toBe(0);
});
