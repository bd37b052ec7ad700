/** Two tenants on a small fleet: one floods, and the other is served in its turn; each has its caps. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import {
  connectSession,
  INIT,
  openSession,
  refusedUpgrade,
  sessionUrl,
  spoken,
} from './support/session-client.ts';
import { holdEachJob } from './support/session-jobs.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { type RunningApp, type Settings, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const tenantRow = (...lines: string[]): string => ['[[scheduler.tenants]]', ...lines, ''].join('\n');

/** One node whose jobs the test ends. */
async function startNarrow(toml = '', slots = 1, settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings }, toml);
  const each = holdEachJob();
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: slots, onJob: each.onJob });
  await app.readyNodes(1);
  return { app, each };
}

const hasWaiting = (app: RunningApp, count: number) =>
  eventually(() => app.app.jobs.waiting() === count || undefined);

/** The tenants of the jobs that the node began; the first job was there before any other waited. */
async function servedOf({ each }: Awaited<ReturnType<typeof startNarrow>>, count: number) {
  for (let at = 1; at <= count; at += 1) {
    each.finish(at);
    await each.job(at + 1);
  }
  each.finish(count + 1);
  return each.begun.slice(1).map(({ session_id: id }) => id);
}

const handIn = (app: RunningApp, tenant: string, count: number, options = {}) =>
  Array.from({ length: count }, () =>
    app.tryDispatch({ session_id: tenant, tenant_id: tenant, wait_ms: 20_000, options }),
  );

describe('tenant that floods over HTTP', () => {
  it('another tenant is served every second time', async () => {
    const narrow = await startNarrow();
    const { app } = narrow;
    await app.dispatch();
    const flood = handIn(app, 'flood', 12);
    await hasWaiting(app, 12);
    const quiet = handIn(app, 'quiet', 3);
    await hasWaiting(app, 15);
    const served = await servedOf(narrow, 15);
    expect(served.slice(0, 6).sort()).toEqual(['flood', 'flood', 'flood', 'quiet', 'quiet', 'quiet']);
    expect(served.slice(6)).toEqual(Array.from({ length: 9 }, () => 'flood'));
    for (const { status } of await Promise.all([...flood, ...quiet])) expect(status).toBe(200);
    expect(await figure(app, 'scheduler_waiting_served_total{class="normal"}')).toBe(15);
  });

  it('a tenant is served in proportion to its weight', async () => {
    const narrow = await startNarrow(tenantRow('tenant_id = "big"', 'weight = 3'));
    const { app } = narrow;
    await app.dispatch();
    const all = handIn(app, 'big', 9);
    await hasWaiting(app, 9);
    all.push(...handIn(app, 'small', 9));
    await hasWaiting(app, 18);
    const served = await servedOf(narrow, 18);
    expect(served.slice(0, 12).filter((tenant) => tenant === 'big')).toHaveLength(9);
    await Promise.all(all);
  });

  it("a higher class goes first, limited by the tenant's own priority", async () => {
    const narrow = await startNarrow(tenantRow('tenant_id = "vip"', 'priority = "high"'));
    const { app } = narrow;
    await app.dispatch();
    const all = handIn(app, 'greedy', 2, { priority: 'high' });
    await hasWaiting(app, 2);
    all.push(...handIn(app, 'modest', 1, { priority: 'low' }), ...handIn(app, 'vip', 2));
    await hasWaiting(app, 5);
    const served = await servedOf(narrow, 5);
    expect(served).toEqual(['vip', 'vip', 'greedy', 'greedy', 'modest']);
    await Promise.all(all);
    const refused = await app.tryDispatch({ options: { priority: 'urgent' } });
    expect(refused).toMatchObject({ status: 400, body: { field: '/options/priority' } });
  });

  it('the cap of jobs gives 429 with the limit and retry_after_ms', async () => {
    const { app, each } = await startNarrow('', 10, { 'scheduler.tenant_limits.max_inflight_jobs': 2 });
    for (const request_id of ['r1', 'r2']) await app.dispatch({ tenant_id: 'flood', request_id });
    const refused = await app.tryDispatch({ tenant_id: 'flood' });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body).toMatchObject({
      error: 'RATE_LIMITED',
      detail: expect.stringContaining('tenant flood may have 2 jobs in flight (max_inflight_jobs)'),
    });
    await app.dispatch({ tenant_id: 'quiet' });
    expect((await app.tryDispatch({ tenant_id: 'flood', request_id: 'r1' })).status).toBe(200);
    const waiting = app.tryDispatch({ tenant_id: 'flood', wait_ms: 10_000 });
    await hasWaiting(app, 1);
    await each.job();
    each.finish(1);
    expect((await waiting).status).toBe(200);
    expect(await figure(app, 'scheduler_tenant_refused_total{limit="inflight"}')).toBe(1);
    expect(await figure(app, 'scheduler_tenants_known{of="inflight"}')).toBe(2);
  });

  it('a tenant is limited by its own request rate only', async () => {
    const { app } = await startNarrow(tenantRow('tenant_id = "flood"', 'requests_per_second = 1'));
    const statuses = (await Promise.all(handIn(app, 'flood', 5))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await app.tryDispatch({ tenant_id: 'quiet' })).status).not.toBe(429);
    expect(await figure(app, 'scheduler_tenant_refused_total{limit="rate"}')).toBeGreaterThan(0);
  });
});

describe('tenant that floods with sessions', () => {
  it("another tenant's utterance does not wait behind the flood", async () => {
    const narrow = await startNarrow();
    const { app, each } = narrow;
    const url = sessionUrl(app);
    const flood = await openSession({ url }, { tenant_id: 'flood' });
    const quiet = await openSession({ url }, { tenant_id: 'quiet' });
    for (let seq = 1; seq <= 10; seq += 1) flood.send(spoken(flood, seq));
    await hasWaiting(app, 9);
    for (const seq of [1, 2]) quiet.send(spoken(quiet, seq));
    await hasWaiting(app, 11);
    const served = await servedOf(narrow, 11);
    expect(served.slice(0, 4).filter((id) => id === quiet.sessionId())).toHaveLength(2);
    await quiet.outcome(2);
    await flood.outcome(10);
    expect(each.cancelled).toEqual([]);
  });

  it('at the cap of jobs utterances wait and keep their order', async () => {
    const { app, each } = await startNarrow('', 10, { 'scheduler.tenant_limits.max_inflight_jobs': 1 });
    const session = await openSession({ url: sessionUrl(app) }, { tenant_id: 'flood' });
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await hasWaiting(app, 2);
    for (const count of [1, 2, 3]) {
      await each.job(count);
      expect(each.begun).toHaveLength(count);
      each.finish(count);
    }
    await session.outcome(3);
    expect(session.outcomes().map(({ type }) => type)).toEqual(Array(3).fill('translation_result'));
  });

  it('at the cap of sessions a new one is refused', async () => {
    const settings = {
      'scheduler.tenant_limits.max_sessions': 1,
      'server.anonymous': 'session,node,operator',
    };
    const { app } = await startNarrow(TOKEN_TOML, 1, settings);
    const url = sessionUrl(app);
    const first = await openSession({ url, token: TOKENS.client });
    const refused = await refusedUpgrade(url, { headers: { authorization: `Bearer ${TOKENS.client}` } });
    expect(refused).toMatchObject({ status: 503, body: { error: 'RATE_LIMITED' } });
    expect(refused.body.detail).toContain('tenant acme may have 1 sessions (max_sessions)');
    await openSession({ url }, { tenant_id: 'open' });
    const over = connectSession({ url });
    await over.opened();
    over.send({ ...INIT, tenant_id: 'open' });
    expect((await over.closed).code).toBe(1013);
    expect(over.frames).toMatchObject([{ type: 'error', code: 'RATE_LIMITED' }]);
    expect(await figure(app, 'scheduler_tenant_refused_total{limit="sessions"}')).toBe(2);
    first.send({ type: 'session_close', session_id: first.sessionId(), reason: 'done' });
    await first.next('session_close_ack');
    await openSession({ url, token: TOKENS.client });
  });
});
