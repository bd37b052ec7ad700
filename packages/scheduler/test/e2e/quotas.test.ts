/** Quotas over HTTP and sockets: a soft one is reported in answers, a hard one refuses new work. */
import type { ErrorReply, QuotaUse, TranslateReply, UsageReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { joinSdkNode } from './support/sdk-node.ts';
import { AUDIO, startApp } from './support/start-app.ts';

const TOML = `
[[scheduler.quotas]]
tenant_id = "acme"
period = "day"
unit = "jobs"
soft = 1
hard = 2
`;

it('a tenant learns of its soft quota, and is refused at its hard one', async () => {
  const app = await startApp({}, TOML);
  await joinSdkNode({ url: app.nodeUrl, onJob: () => ({ text_asr: '你好', text_translated: 'hello' }) });
  await app.readyNodes(1);
  const translate = <Body = TranslateReply>(fields: object) =>
    app.post<Body>('/v1/translate', { src_lang: 'zh', tgt_lang: 'en', audio: AUDIO, ...fields });
  const acme = { tenant_id: 'acme' };
  const first = await translate({ ...acme, request_id: 'r-1' });
  expect(first.status).toBe(200);
  const second = await translate({ ...acme, request_id: 'r-2' });
  expect(second.status).toBe(200);
  const quota: QuotaUse | undefined = second.body.quota;
  expect(quota).toMatchObject({ period: 'day', unit: 'jobs', soft: 1, hard: 2, used: 2 });

  const third = await translate<ErrorReply>({ ...acme, request_id: 'r-3' });
  expect(third).toMatchObject({
    status: 429,
    body: { error: 'QUOTA_EXCEEDED', detail: expect.stringContaining('has used 2 of 2 jobs of this day') },
  });
  const untilReset = Date.parse(quota?.resets_at ?? '') - Date.now();
  expect(Math.abs((third.body.retry_after_ms ?? 0) - untilReset)).toBeLessThan(60_000);
  const dispatched = await app.tryDispatch({ ...acme });
  expect(dispatched.body).toMatchObject({ error: 'QUOTA_EXCEEDED' });

  expect((await translate({ ...acme, request_id: 'r-1' })).body.job_id).toBe(first.body.job_id);
  const several = await translate<ErrorReply>({ ...acme, tgt_langs: ['en', 'fr'] });
  expect(several).toMatchObject({ status: 429, body: { error: 'QUOTA_EXCEEDED' } });
  const other = await translate({ tenant_id: 'beta' });
  expect([other.status, other.body.quota]).toEqual([200, undefined]);

  const usage = await app.get<UsageReply>('/api/v1/usage?tenant_id=acme');
  expect(usage.body.quotas).toMatchObject([{ unit: 'jobs', used: 2, hard: 2 }]);
});
