/** What the pages of the console read of one instance: searches, one job, languages, tenants, scaling and the configuration. */
import type {
  ConfigReply,
  JobDetail,
  LanguagesReply,
  ScalingReply,
  SearchReply,
  TenantsReply,
} from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../support/eventually.ts';
import { poolsToml } from './support/pooled-nodes.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { connectSession, INIT, sessionUrl } from './support/session-client.ts';
import { startApp } from './support/start-app.ts';

async function startWithNode(toml = '') {
  const app = await startApp({}, toml);
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob: () => OUTPUT, maxConcurrentJobs: 2 });
  await app.readyNodes(1);
  return app;
}

describe('GET /api/v1/search', () => {
  it('finds jobs by any of their ids, and by what filters say', async () => {
    const app = await startWithNode();
    const { job_id: jobId } = await app.dispatch({ request_id: 'order-77', session_id: 'room-9' });
    await app.settled(jobId);
    await app.dispatch({ session_id: 'room-8' });
    const search = async (query: string) =>
      (await app.get<SearchReply>(`/api/v1/search?kind=jobs&${query}`)).body.jobs.map(({ job_id }) => job_id);
    const { trace_id: traceId } = await app.job(jobId);
    for (const q of [jobId, 'order-7', 'room-9', traceId]) expect(await search(`q=${q}`), q).toEqual([jobId]);
    expect(await search('session_id=room-9')).toEqual([jobId]);
    expect(await search('q=node-1')).toHaveLength(2);
    expect(await search('outcome=failed')).toEqual([]);
    expect(await search('q=nothing-like-it')).toEqual([]);
  });

  it('finds sessions and nodes, and says who answered', async () => {
    const app = await startWithNode();
    const client = connectSession({ url: sessionUrl(app) });
    await client.opened();
    await client.init(INIT);
    const { body } = await app.get<SearchReply>(`/api/v1/search?q=${client.sessionId().slice(0, 8)}`);
    expect(body.sessions.map(({ session_id }) => session_id)).toEqual([client.sessionId()]);
    expect(body).toMatchObject({ answered: [''], unreachable: [], truncated: false });
    const nodes = await app.get<SearchReply>('/api/v1/search?q=de-1&status=ready');
    expect(nodes.body.nodes).toMatchObject([{ node_id: 'node-1', max_concurrent_jobs: 2 }]);
    const none = await app.get<SearchReply>('/api/v1/search?kind=sessions&connected=false');
    expect(none.body).toMatchObject({ sessions: [], nodes: [], jobs: [] });
  });

  it('refuses an unknown outcome with the ones there are', async () => {
    const app = await startApp();
    const { status, body } = await app.get('/api/v1/search?outcome=lost');
    expect([status, body.error]).toEqual([400, 'INVALID_MESSAGE']);
    expect(JSON.stringify(body)).toMatch('waiting, running, finished');
  });
});

describe('GET /api/v1/jobs/:id', () => {
  it('has every attempt on one axis and the choice of now', async () => {
    const app = await startWithNode();
    const { job_id: jobId } = await app.dispatch();
    await app.settled(jobId);
    const { body } = await app.get<JobDetail>(`/api/v1/jobs/${jobId}`);
    expect(body.spans.map(({ stage, node_id }) => [stage, node_id])).toEqual(
      expect.arrayContaining(['attempt', 'send', 'ack', 'run'].map((stage) => [stage, 'node-1'])),
    );
    for (const { from_ms: from, to_ms: to } of body.spans) expect(to).toBeGreaterThanOrEqual(from);
    expect(body.job).toMatchObject({ outcome: 'finished', result: { text_translated: '你好' } });
    expect(body.choice).toMatchObject({ outcome: 'dispatch', candidate_node_id: 'node-1' });
    expect((await app.get('/api/v1/jobs/absent')).status).toBe(404);
  });

  it('a running job has stages without an end', async () => {
    const app = await startApp();
    const held = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob: held.onJob });
    await app.readyNodes(1);
    const { job_id: jobId } = await app.dispatch();
    await held.job();
    const { body } = await app.get<JobDetail>(`/api/v1/jobs/${jobId}`);
    expect(body.spans.find(({ stage }) => stage === 'attempt')).not.toHaveProperty('to_ms');
    held.finish();
  });
});

describe('GET /api/v1/languages', () => {
  it('shows nodes, slots, demand and what one more node would change', async () => {
    const app = await startWithNode();
    await app.settled((await app.dispatch()).job_id);
    await app.tryDispatch({ src_lang: 'fr', tgt_lang: 'ko' });
    const { body } = await app.get<LanguagesReply>('/api/v1/languages');
    const cell = (src: string, tgt: string) =>
      body.cells.find((each) => each.src === src && each.tgt === tgt);
    expect(cell('en', 'zh')).toMatchObject({ nodes: 1, ready: 1, slots: 2, free: 2, refused: 0 });
    expect(cell('en', 'zh')).toMatchObject({ expected_wait_ms: 0, one_more_node: { slots: 2 } });
    expect(cell('zh', 'en')).toMatchObject({ nodes: 1 });
    expect(cell('fr', 'ko')).toEqual({
      src: 'fr',
      tgt: 'ko',
      nodes: 0,
      ready: 0,
      slots: 0,
      free: 0,
      in_flight: 0,
      waiting: 0,
      refused: 1,
    });
  });

  it('counts no cordoned node as ready or free', async () => {
    const app = await startWithNode();
    const enToZh = async () =>
      (await app.get<LanguagesReply>('/api/v1/languages')).body.cells.find(
        ({ src, tgt }) => src === 'en' && tgt === 'zh',
      );
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-2', onJob: () => OUTPUT, maxConcurrentJobs: 2 });
    await app.readyNodes(2);
    await app.settled((await app.dispatch()).job_id);
    expect(await enToZh()).toMatchObject({ nodes: 2, ready: 2, slots: 4, free: 4 });
    await app.post('/api/v1/nodes/node-1/cordon');
    const half = { nodes: 2, ready: 1, slots: 2, free: 2, one_more_node: { slots: 2 } };
    expect(await enToZh()).toMatchObject(half);
    await app.post('/api/v1/nodes/node-1/uncordon');
    expect(await enToZh()).toMatchObject({ nodes: 2, ready: 2, slots: 4, free: 4 });
  });

  it('shows a pair whose target no node speaks as text only', async () => {
    const app = await startApp();
    const { language_capabilities, ...others } = simulatedCapabilities(['en', 'zh'], false);
    const mute = { ...others, language_capabilities: { ...language_capabilities, tts_languages: ['en'] } };
    await joinSdkNode({ url: app.nodeUrl, onJob: () => OUTPUT, capabilities: mute });
    await app.readyNodes(1);
    const { cells } = (await app.get<LanguagesReply>('/api/v1/languages')).body;
    expect(cells.map(({ src, tgt, nodes, text_only }) => [src, tgt, nodes, text_only])).toEqual([
      ['en', 'zh', 1, true],
      ['zh', 'en', 1, undefined],
    ]);
  });

  it('counts the jobs that wait for a slot, and estimates the wait', async () => {
    const app = await startApp();
    const held = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, onJob: held.onJob, maxConcurrentJobs: 1 });
    await app.readyNodes(1);
    const first = app.dispatch();
    await held.job();
    const second = app.tryDispatch({ wait_ms: 20_000 });
    const waiting = await eventually(async () => {
      const { body } = await app.get<LanguagesReply>('/api/v1/languages');
      return body.cells.find((cell) => cell.waiting === 1);
    });
    expect(waiting).toMatchObject({ in_flight: 2, free: 0 });
    held.finish();
    await Promise.all([first, second]);
  });
});

describe('GET /api/v1/tenants', () => {
  it('lists configured and active tenants with their caps and use', async () => {
    const toml = [
      '[[scheduler.tenants]]',
      'tenant_id = "acme"',
      'max_inflight_jobs = 3',
      'priority = "high"',
    ].join('\n');
    const app = await startWithNode(toml);
    await app.tryDispatch({ tenant_id: 'globex', src_lang: 'fr', tgt_lang: 'ko' });
    const { body } = await app.get<TenantsReply>('/api/v1/tenants');
    expect(body.tenants).toMatchObject([
      { tenant_id: 'acme', in_flight: 0, caps: { max_inflight_jobs: 3 }, priority: 'high' },
      { tenant_id: 'globex', refused: { NO_CAPABLE_NODE: 1 } },
    ]);
  });
});

describe('GET /api/v1/scaling', () => {
  it('estimates the nodes that the load needs', async () => {
    const app = await startWithNode();
    const before = await app.get<ScalingReply>('/api/v1/scaling');
    expect(before.body).toMatchObject({ wanted_slots: 0, drain: [expect.any(String)], pools: [] });
    await app.settled((await app.dispatch()).job_id);
    const { body } = await app.get<ScalingReply>('/api/v1/scaling?target_wait_ms=50');
    expect(body).toMatchObject({ target_wait_ms: 50, nodes: 1, slots: 2, used: 0, waiting: 0 });
    expect(body).toMatchObject({ wanted_nodes: 1, drain: [], load: 0, oldest_wait_ms: 0 });
  });

  it('wants a node for the first refused or waiting job, before there is any', async () => {
    const pools = poolsToml([{ id: 3, service: 'gold' }], {});
    const app = await startApp({ 'scheduler.fleet_warmup_ms': 60_000 }, pools);
    const scaling = async () => (await app.get<ScalingReply>('/api/v1/scaling')).body;
    expect(await scaling()).toMatchObject({ nodes: 0, wanted_nodes: 0, refused: 0 });
    await app.tryDispatch();
    expect(await scaling()).toMatchObject({ nodes: 0, wanted_nodes: 1, refused: 1 });
    void app.tryDispatch({ wait_ms: 60_000 }).catch(() => {});
    await eventually(async () => (await scaling()).waiting === 1);
    const { pools: lines, oldest_wait_ms: oldest, load } = await scaling();
    expect(lines).toMatchObject([{ pool_id: 3, pool_name: 'gold', nodes: 0, waiting: 1, wanted_nodes: 1 }]);
    expect([oldest >= 0, load]).toEqual([true, undefined]);
  });
});

describe('GET /api/v1/config', () => {
  it('has every value with its origin, and no secret', async () => {
    const secret = 'a-secret-token-0123456789';
    const toml = `[[server.tokens]]\ntoken = "${secret}"\nrole = "operator"`;
    const app = await startApp({ 'scheduler.max_retry': 1 }, toml);
    const { body } = await app.get<ConfigReply>('/api/v1/config', secret);
    const of = (key: string) => body.settings.find((setting) => setting.key === key);
    expect(of('scheduler.max_retry')).toMatchObject({ value: 1, origin: '--set scheduler.max_retry' });
    expect(of('server.host')).toMatchObject({ origin: 'default' });
    expect(of('server.host')?.doc).not.toBe('');
    expect(JSON.stringify(body)).not.toContain(secret);
  });
});
