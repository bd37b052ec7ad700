/** Traces of a conversation over real sockets: one tree per utterance, and no effect of a failing collector. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import type { NodeOptions } from '@lingua/sdk/node';
import { JobError, traceContext } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Instance, startInstances } from './multi-instance/start-instances.ts';
import { startOtlpReceiver, treeOf } from './support/otlp-receiver.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { chunk, openSession, resume, sessionUrl, spoken, utterance } from './support/session-client.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';

const ENDPOINT = 'scheduler.observability.otlp_endpoint';
const GIVEN = '4BF92F3577B34DA6A3CE929D0E0E4736';
const ONE_TREE = ['utterance', '  job', '    attempt', '      send', '      ack', '      run', '  deliver'];

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
/** As docs/operations.md describes it. */
const traceIdFor = (given: string): string => digest(given).slice(0, 32);
/** Waits take milliseconds, and equal times have no order. */
const withoutWaits = (tree: readonly string[]): readonly string[] =>
  tree.filter((line) => !line.includes('wait')).sort();

async function startTraced(onJob: NodeOptions['onJob'] = async () => OUTPUT, settings: Settings = {}) {
  const receiver = await startOtlpReceiver();
  const app = await startApp({ ...QUICK, [ENDPOINT]: receiver.url, ...settings });
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob });
  await app.readyNodes(1);
  const tree = (traceId: string, lines: readonly string[]) =>
    eventually(
      () => expect(withoutWaits(treeOf(receiver.spans, traceId))).toEqual([...lines].sort()) ?? true,
    );
  return { app, receiver, tree };
}

describe('trace of an utterance', () => {
  it('an utterance is one tree from first chunk to delivery', async () => {
    const { app, receiver, tree } = await startTraced();
    const session = await openSession({ url: sessionUrl(app) });
    session.send(utterance(session, 0, { trace_id: GIVEN }));
    session.send(utterance(session, 1, { trace_id: 'ticket-17' }));
    session.send(chunk(session, 0));
    session.send(spoken(session, 1));
    await session.outcome(3);
    const [, , made] = session.outcomes();
    for (const traceId of [
      GIVEN.toLowerCase(),
      traceIdFor('ticket-17'),
      traceIdFor(made?.trace_id as string),
    ])
      await tree(traceId, ONE_TREE);
    expect(new Set(receiver.paths)).toEqual(new Set(['/v1/traces']));
    const own = receiver.spans.filter(({ traceId }) => traceId === traceIdFor('ticket-17'));
    const [root] = own.filter(({ name }) => name === 'utterance');
    const [attempt] = own.filter(({ name }) => name === 'attempt');
    expect(root?.attributes).toMatchObject({
      'lingua.trace_id': 'ticket-17',
      'lingua.session_id': session.sessionId(),
      'lingua.tenant_id': 'default',
      'lingua.outcome': 'result',
    });
    expect(root?.service).toMatchObject({ 'service.name': 'lingua-scheduler' });
    expect(attempt?.attributes).toMatchObject({ 'lingua.node_id': 'node-a', 'lingua.attempt_id': 1 });
    for (const { startMs, endMs } of own) {
      expect(startMs).toBeGreaterThanOrEqual(root?.startMs ?? Number.NaN);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
    }
  });

  it('the trace begins with the first chunk, not with the cut', async () => {
    const { app, receiver } = await startTraced(undefined, {
      'scheduler.web_task_segmentation.pause_ms': 300,
    });
    const session = await openSession({ url: sessionUrl(app) });
    session.send(chunk(session, 0));
    await session.outcome();
    const root = await eventually(() => receiver.spans.find(({ name }) => name === 'utterance'));
    expect(root.endMs - root.startMs).toBeGreaterThanOrEqual(300);
  });

  it('every attempt has its node and its failure', async () => {
    let tries = 0;
    const onJob: NodeOptions['onJob'] = async () => {
      tries += 1;
      if (tries === 1) throw new JobError('PROCESSING_ERROR', 'the secret words 你好 were not understood');
      return OUTPUT;
    };
    const { app, receiver } = await startTraced(onJob);
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-b', onJob });
    await app.readyNodes(2);
    const session = await openSession({ url: sessionUrl(app) });
    session.send(utterance(session, 0));
    await session.outcome();
    const attempts = await eventually(() => {
      const found = receiver.spans.filter(({ name }) => name === 'attempt');
      return found.length === 2 && found;
    });
    const inOrder = attempts.toSorted((one, other) => one.startMs - other.startMs);
    expect(inOrder.map(({ status }) => status.code ?? 0)).toEqual([2, 0]);
    expect(new Set(attempts.map(({ attributes }) => attributes['lingua.node_id'])).size).toBe(2);
    await eventually(() => receiver.spans.some(({ name }) => name === 'deliver'));
    expect(receiver.bodies.join()).not.toMatch(/你好|hello|secret words/);
  });

  it('an undelivered utterance has a root span that says so', async () => {
    const { app, receiver } = await startTraced(() => new Promise(() => {}));
    const session = await openSession({ url: sessionUrl(app) }, { supports: undefined });
    session.send(utterance(session, 0));
    await eventually(() => app.app.jobs.inFlight() === 1);
    session.cut();
    const root = await eventually(() => receiver.spans.find(({ name }) => name === 'utterance'));
    expect(root.attributes['lingua.outcome']).toBe('unheard');
    const job = await eventually(() => receiver.spans.find(({ name }) => name === 'job'));
    expect(job.parentSpanId).toBe(root.spanId);
  });

  it('the node sees the same trace and attempt span', async () => {
    let seen: ReturnType<typeof traceContext> | undefined;
    const { app, receiver } = await startTraced(async (job) => {
      seen = traceContext(job);
      return OUTPUT;
    });
    const session = await openSession({ url: sessionUrl(app) });
    session.send(utterance(session, 0));
    await session.outcome();
    const attempt = await eventually(() => receiver.spans.find(({ name }) => name === 'attempt'));
    expect(seen).toEqual({
      traceId: attempt.traceId,
      parentSpanId: attempt.spanId,
      traceparent: `00-${attempt.traceId}-${attempt.spanId}-01`,
    });
  });
});

describe('trace of an HTTP job', () => {
  it('the trace of an HTTP job begins with the job', async () => {
    const { app, tree } = await startTraced();
    const { job_id } = await app.dispatch({ trace_id: 'http-1' });
    await app.settled(job_id);
    await tree(traceIdFor('http-1'), ['job', '  attempt', '    send', '    ack', '    run']);
  });

  it('a trace outside the sample is not exported', async () => {
    const { app, receiver } = await startTraced(undefined, {
      'scheduler.observability.trace_sample_ratio': 0.5,
    });
    // The last digits decide.
    const [low, high] = ['0'.repeat(31).concat('1'), 'f'.repeat(32)];
    for (const trace_id of [low, high]) await app.settled((await app.dispatch({ trace_id })).job_id);
    await app.app.stop();
    expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([high]));
  });
});

describe('traces of several instances', () => {
  it('driver and session holder export spans of one trace', async () => {
    const receiver = await startOtlpReceiver();
    const { instances } = await startInstances(2, { ...QUICK, [ENDPOINT]: receiver.url });
    const [here, there] = instances as [Instance, Instance];
    const held = holdJobs();
    await joinSdkNode({ url: there.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
    await here.readyNodes(1);
    const session = await openSession({ url: sessionUrl(here) });
    session.send(utterance(session, 0, { trace_id: GIVEN }));
    await held.job();
    await session.next('utterance_accepted');
    const moved = await resume(sessionUrl(there), session);
    held.finish();
    await moved.outcome();
    const traceId = GIVEN.toLowerCase();
    await eventually(
      () => expect(withoutWaits(treeOf(receiver.spans, traceId))).toEqual([...ONE_TREE].sort()) ?? true,
    );
    const teller = (name: string) =>
      receiver.spans.find((span) => span.name === name)?.service['service.instance.id'];
    expect([teller('job'), teller('utterance')]).toEqual([here.instanceId, there.instanceId]);
  });
});

describe('unavailable collector', () => {
  const spansOf = async (app: Awaited<ReturnType<typeof startApp>>, name: string): Promise<number> => {
    const { body } = await app.get<string>('/metrics');
    const found = [...body.matchAll(new RegExp(`^scheduler_trace_spans_${name}_total\\S* (\\d+)$`, 'gm'))];
    return found.reduce((sum, [, value]) => sum + Number(value), 0);
  };

  it('a failing collector has no effect and is counted', async () => {
    const { app, receiver } = await startTraced();
    receiver.answer(400);
    for (let at = 0; at < 40; at += 1) await app.settled((await app.dispatch()).job_id);
    await eventually(async () => (await spansOf(app, 'dropped')) > 0);
    expect(await spansOf(app, 'exported')).toBe(0);
    expect(app.log.filter((line) => line.includes('does not accept spans'))).toHaveLength(1);
    receiver.answer(200);
    await app.settled((await app.dispatch({ trace_id: 'later' })).job_id);
    await eventually(async () => (await spansOf(app, 'exported')) > 0);
    expect(app.log.some((line) => line.includes('accepts spans again'))).toBe(true);
  });

  it('a hanging collector does not prevent the end of the program', async () => {
    // Accepts connections and never answers.
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const app = await startApp({ [ENDPOINT]: `http://127.0.0.1:${port}` });
    await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
    await app.readyNodes(1);
    await app.settled((await app.dispatch()).job_id);
    await app.app.stop();
    silent.close();
  });
});
