/** Dispatch over HTTP: repeats, waiting, preferred nodes, and late reports. */
import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { nodesOf, type RunningApp, type Settings, SHORT_TIMES, startApp } from './support/start-app.ts';

async function startWith(nodeIds: readonly string[], settings: Settings = {}): Promise<RunningApp> {
  const app = await startApp(settings);
  for (const nodeId of nodeIds) {
    await app.post('/v1/node/register', {
      node_id: nodeId,
      health: 'ready',
      semantic_langs: ['en', 'zh'],
      max_concurrent_jobs: 1,
    });
  }
  return app;
}

const report = (app: RunningApp, what: 'ack' | 'done' | 'fail', attempt: Record<string, unknown>) =>
  app.post(`/v1/job/${what}`, { reason: 'MODEL_LOAD_FAILED', ...attempt });

const prefer = (nodeId: string, fields = {}) => ({ options: { preferred_node_id: nodeId, ...fields } });

describe('scheduler.candidate_shuffle', () => {
  const NODES = ['node-a', 'node-b', 'node-c', 'node-d', 'node-e', 'node-f', 'node-g', 'node-h'];
  const choices = async (isShuffled: boolean) => {
    const app = await startWith(NODES, { 'scheduler.candidate_shuffle': isShuffled });
    const chosen: unknown[] = [];
    for (const _ of NODES) chosen.push((await app.dispatch()).node_id);
    return chosen.join();
  };

  it('without shuffle a fleet gives the same choices, with it not', async () => {
    expect(await choices(false)).toBe(await choices(false));
    const shuffled = new Set([await choices(true), await choices(true), await choices(true)]);
    expect(shuffled.size).toBeGreaterThan(1);
  });
});

describe('request_id', () => {
  it('a repeat returns the same job, before and after its result', async () => {
    const app = await startWith(['node-a']);
    const first = await app.dispatch({ request_id: 'req-1' });
    expect(await app.dispatch({ request_id: 'req-1' })).toMatchObject({ job_id: first.job_id });
    await report(app, 'done', { job_id: first.job_id, attempt_id: 1, node_id: 'node-a' });
    expect(await app.dispatch({ request_id: 'req-1' })).toMatchObject({ job_id: first.job_id });
    expect(app.app.jobs.inFlight()).toBe(0);
  });

  it('another body under the same request_id is a conflict', async () => {
    const app = await startWith(['node-a']);
    await app.dispatch({ request_id: 'req-1' });
    const { status, body } = await app.tryDispatch({ request_id: 'req-1', tgt_lang: 'en', src_lang: 'zh' });
    expect([status, body.error]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  it('a refused request frees its request_id', async () => {
    const app = await startWith([]);
    expect((await app.tryDispatch({ request_id: 'req-1' })).body.error).toBe('NO_CAPABLE_NODE');
    await app.post('/v1/node/register', { node_id: 'node-a', health: 'ready', semantic_langs: ['en', 'zh'] });
    expect(await app.dispatch({ request_id: 'req-1' })).toMatchObject({ node_id: 'node-a' });
  });

  it('a failed job frees its request_id', async () => {
    const app = await startWith(['node-a'], { 'scheduler.max_retry': 0 });
    const { job_id } = await app.dispatch({ request_id: 'req-1' });
    await report(app, 'fail', { job_id, attempt_id: 1, node_id: 'node-a' });
    expect((await app.settled(job_id)).result).toMatchObject({ success: false });
    expect((await app.dispatch({ request_id: 'req-1' })).job_id).not.toBe(job_id);
  });
});

describe('wait_ms', () => {
  it('wait_ms waits for the first free slot', async () => {
    const app = await startWith(['node-a']);
    const { job_id } = await app.dispatch();
    const waiting = app.dispatch({ wait_ms: 10_000 });
    await eventually(() => app.app.jobs.waiting() === 1);
    await report(app, 'done', { job_id, attempt_id: 1, node_id: 'node-a' });
    expect(await waiting).toMatchObject({ node_id: 'node-a', attempt_id: 1 });
  });

  it('an expired wait gives ALL_CANDIDATES_FULL_OR_FAILED and leaves nothing behind', async () => {
    const app = await startWith(['node-a']);
    await app.dispatch();
    const { status, body, headers } = await app.tryDispatch({ wait_ms: 50 });
    expect([status, body.error]).toEqual([503, 'ALL_CANDIDATES_FULL_OR_FAILED']);
    expect(headers.get('retry-after')).toBe('1');
    expect([app.app.jobs.waiting(), app.app.jobs.inFlight()]).toEqual([0, 1]);
  });

  it('wait_ms is not used when no node could ever take the job', async () => {
    const app = await startWith(['node-a']);
    const { body } = await app.tryDispatch({ tgt_lang: 'fr', wait_ms: 60_000 });
    expect(body.error).toBe('NO_CAPABLE_NODE');
  });
});

describe('preferred_node_id', () => {
  it('the preferred node is used if possible, else another one', async () => {
    const app = await startWith(['node-a', 'node-b', 'node-c']);
    expect(await app.dispatch(prefer('node-b'))).toMatchObject({ node_id: 'node-b' });
    expect((await app.dispatch(prefer('node-b'))).node_id).not.toBe('node-b');
    expect((await app.dispatch(prefer('node-nobody'))).node_id).not.toBe('node-b');
  });

  it('with strict the preferred node is used, or the request fails', async () => {
    const app = await startWith(['node-a', 'node-b']);
    expect(await app.dispatch(prefer('node-b', { strict: true }))).toMatchObject({ node_id: 'node-b' });
    const { status, body } = await app.tryDispatch(prefer('node-b', { strict: true }));
    expect([status, body.error]).toEqual([503, 'ALL_CANDIDATES_FULL_OR_FAILED']);
    expect(body.detail).toBe('node node-b is full, and options.strict forbids another');
    const unknown = await app.tryDispatch(prefer('node-z', { strict: true }));
    expect([unknown.status, unknown.body.error]).toEqual([409, 'PREFERRED_NODE_NOT_CAPABLE']);
  });
});

describe('late report (I4)', () => {
  it('a late result counts while no other node has the job', async () => {
    const app = await startWith(['node-a'], SHORT_TIMES);
    const { job_id } = await app.dispatch();
    await eventually(async () => (await app.job(job_id)).state === 'RETRYING');
    const late = await report(app, 'done', { job_id, attempt_id: 1, node_id: 'node-a' });
    expect(late.body).toMatchObject({ accepted: true });
    expect(await app.settled(job_id)).toMatchObject({ attempt_id: 1, result: { success: true } });
  });

  it('a late result changes nothing after another node has the job', async () => {
    const app = await startWith(['node-a', 'node-b'], SHORT_TIMES);
    const { job_id } = await app.dispatch(prefer('node-a'));
    const { body } = await app.get<{ jobs: JobAssign[] }>('/v1/node/node-b/jobs?wait_ms=20000');
    expect(body.jobs).toMatchObject([{ job_id, attempt_id: 2 }]);
    const late = { job_id, attempt_id: 1, node_id: 'node-a', text_asr: 'late', text_translated: 'late' };
    expect((await report(app, 'done', late)).body).toEqual({ ok: true, accepted: false, reason: 'fenced' });
    const right = { job_id, attempt_id: 2, node_id: 'node-b', text_asr: 'right', text_translated: 'right' };
    expect((await report(app, 'done', right)).body).toMatchObject({ accepted: true });
    expect((await app.settled(job_id)).result).toMatchObject({ text_translated: 'right' });
    // The late report showed that the first node is free again.
    expect(await app.dispatch(prefer('node-a'))).toMatchObject({ node_id: 'node-a' });
  });
});

describe('slot of a silent node', () => {
  it('a slot is free after its lease expired, without a heartbeat', async () => {
    const app = await startWith(['node-a'], SHORT_TIMES);
    await app.dispatch();
    expect((await app.tryDispatch()).body.error).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(await app.dispatch({ wait_ms: 30_000 })).toMatchObject({ node_id: 'node-a' });
  });
});

describe('lifetime of a job', () => {
  it('a job ends at its deadline although no node answers', async () => {
    const app = await startWith(['node-a', 'node-b', 'node-c', 'node-d'], {
      ...SHORT_TIMES,
      'scheduler.job_deadline_ms': 6_000,
      'scheduler.pending_timeout_ms': 3_000,
      'scheduler.max_retry': 10,
    });
    const { job_id } = await app.dispatch();
    const job = await app.settled(job_id);
    expect(job.result).toMatchObject({ success: false });
    expect(nodesOf(job).length).toBeGreaterThan(1);
    expect(new Set(nodesOf(job)).size).toBe(nodesOf(job).length);
  });

  it('a job is counted once as admitted and once as settled', async () => {
    const app = await startWith(['node-a']);
    const { job_id } = await app.dispatch();
    await report(app, 'done', { job_id, attempt_id: 1, node_id: 'node-a' });
    const { body } = await app.get<string>('/metrics');
    expect(body).toMatch(/^scheduler_jobs_admitted_total 1$/m);
    expect(body).toMatch(/^scheduler_jobs_settled_total\{outcome="finished",code=""\} 1$/m);
    expect(body).toMatch(/^scheduler_jobs_inflight 0$/m);
  });
});

describe('OpenAPI documentation', () => {
  it('the documentation lists every path of the curl story', async () => {
    const app = await startApp();
    expect((await app.get('/docs')).status).toBe(200);
    const { body } = await app.get<{ paths: Record<string, unknown> }>('/docs/json');
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/v1/node/register', '/v1/dispatch/f2f', '/v1/job/done', '/v1/job/{id}']),
    );
  });
});
