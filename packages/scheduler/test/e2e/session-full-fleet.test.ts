/** Sessions while the fleet is full, fails or dies: waiting clients get backpressure and a slot as soon as one is free. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, type LegacyNode, TRANSLATED } from './support/legacy-node.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import {
  type Frame,
  openSession,
  resume,
  type SessionClient,
  sessionUrl,
  spoken,
  utterance,
} from './support/session-client.ts';
import { echo, holdEachJob } from './support/session-jobs.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, SHORT_TIMES, startApp } from './support/start-app.ts';
import { openWebClient } from './support/web-client.ts';

/** One node with one slot, whose jobs the test ends. */
async function startNarrow(settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const each = holdEachJob();
  const node = await joinSdkNode({
    url: app.nodeUrl,
    nodeId: 'node-a',
    maxConcurrentJobs: 1,
    onJob: each.onJob,
  });
  await app.readyNodes(1);
  return { app, each, node, url: sessionUrl(app) };
}

const open = (url: string, count: number): Promise<SessionClient[]> =>
  Promise.all(Array.from({ length: count }, () => openSession({ url })));

describe('a session whose fleet is full', () => {
  it('an utterance waits for a free slot', async () => {
    const { each, url } = await startNarrow();
    const sessions = await open(url, 8);
    for (const session of sessions) {
      session.send(spoken(session, 1));
      await session.next('utterance_accepted');
    }
    for (let count = 1; count < sessions.length; count += 1) {
      each.finish(count);
      await each.job(count + 1);
    }
    each.finish(sessions.length);
    for (const session of sessions) expect((await session.outcome()).type).toBe('translation_result');
  });

  it('a growing own queue gives SLOW_DOWN, then PAUSE', async () => {
    const { url } = await startNarrow({ 'session.max_utterances': 16 });
    const [session] = (await open(url, 1)) as [SessionClient];
    await eventually(() => {
      session.send(utterance(session, 0));
      return session.of('backpressure').some(({ action }) => action === 'PAUSE');
    });
    const received = session.of('backpressure');
    expect(received.map(({ action }) => action)).toEqual(['SLOW_DOWN', 'PAUSE']);
    for (const { resume_after_ms: resume } of received) expect(resume).toBe(2_000);
  });

  it('many utterances at once give no backpressure while slots are free', async () => {
    const app = await startApp(QUICK);
    await joinSdkNode({ url: app.nodeUrl, maxConcurrentJobs: 16, onJob: echo });
    await app.readyNodes(1);
    const session = await openSession({ url: sessionUrl(app) });
    for (let seq = 1; seq <= 12; seq += 1) session.send(spoken(session, seq));
    await session.outcome(12);
    expect(session.of('backpressure')).toEqual([]);
  });

  it('a long queue of all sessions gives BUSY', async () => {
    const { url } = await startNarrow({ 'scheduler.queue.max_waiting': 8 });
    const [quiet, ...loud] = (await open(url, 8)) as [SessionClient, ...SessionClient[]];
    for (const session of loud) {
      session.send(spoken(session, 1));
      await session.next('utterance_accepted');
    }
    quiet.send(spoken(quiet, 1));
    expect(await quiet.next('backpressure')).toMatchObject({ action: 'BUSY' });
  });

  it('after pending_timeout_ms an utterance fails with NO_AVAILABLE_NODE', async () => {
    const { app, each, url } = await startNarrow({ 'scheduler.pending_timeout_ms': 100 });
    const [holder, late] = (await open(url, 2)) as [SessionClient, SessionClient];
    holder.send(spoken(holder, 1));
    await each.job();
    const web = await openWebClient({ url });
    late.send(spoken(late, 1));
    web.speak();
    web.letGo();
    for (const session of [late, web]) {
      expect(await session.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
      expect(session.of('ui_event').at(-1)).toMatchObject({
        event: 'ERROR',
        error_code: 'NO_AVAILABLE_NODE',
      });
    }
    expect(late.of('error')).toMatchObject([
      { code: 'NO_AVAILABLE_NODE', details: { reason: 'capacity_exceeded', utterance_index: 0 } },
    ]);
    expect(web.alerts()).toEqual([]);
    each.finish(1);
    await holder.outcome();
    expect(await figure(app, 'scheduler_audio_store_bytes')).toBe(0);
  });

  it('many sessions of a full fleet are all served', async () => {
    const app = await startApp(QUICK);
    for (const nodeId of ['node-a', 'node-b']) {
      await joinSdkNode({ url: app.nodeUrl, nodeId, maxConcurrentJobs: 2, onJob: echo });
    }
    await app.readyNodes(2);
    const sessions = await open(sessionUrl(app), 60);
    for (const session of sessions) for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    for (const session of sessions) {
      await session.outcome(3);
      expect(session.outcomes().map(({ text_asr: text }) => text)).toEqual(['heard 1', 'heard 2', 'heard 3']);
    }
    await eventually(async () => (await app.nodes()).every(({ used_slots: used }) => used === 0));
    expect(await figure(app, 'scheduler_audio_store_bytes')).toBe(0);
    expect(app.app.jobs.inFlight()).toBe(0);
  });

  it('a waiting job continues while its client is disconnected', async () => {
    const { each, url } = await startNarrow();
    const [holder, waiter] = (await open(url, 2)) as [SessionClient, SessionClient];
    holder.send(spoken(holder, 1));
    await each.job();
    waiter.send(spoken(waiter, 1));
    await waiter.next('utterance_accepted');
    waiter.cut();
    await waiter.closed;
    each.finish(1);
    await each.job(2);
    each.finish(2);
    const again = await resume(url, waiter);
    expect((await again.outcome()).type).toBe('translation_result');
  });
});

describe('a session that resumes before nodes register', () => {
  it('an utterance waits until nodes register', async () => {
    const app = await startApp({ ...QUICK, 'scheduler.fleet_warmup_ms': 10_000 });
    const session = await openSession({ url: sessionUrl(app) });
    session.send(spoken(session, 1));
    await session.handled();
    await joinSdkNode({ url: app.nodeUrl, onJob: echo });
    expect((await session.outcome()).type).toBe('translation_result');
  });
});

describe('a node that dies in the middle of an utterance', () => {
  it.each([
    ['before it comes back', undefined],
    ['and one that takes its time', 50],
  ])('a node’s death costs the client only latency, %s', async (_, graceMs) => {
    const app = await startApp({ ...QUICK, 'scheduler.node_reconnect_grace_ms': graceMs ?? 0 });
    const held = [holdEachJob(), holdEachJob()];
    const nodes = [];
    for (const [index, each] of held.entries()) {
      nodes.push(await joinSdkNode({ url: app.nodeUrl, nodeId: `node-${index}`, onJob: each.onJob }));
    }
    await app.readyNodes(2);
    const session = await openSession({ url: sessionUrl(app) });
    session.send(spoken(session, 1));
    const first = await eventually(() => {
      const at = held.findIndex(({ begun }) => begun.length > 0);
      return at >= 0 && { at };
    });
    nodes[first.at]?.kill();
    const other = held[1 - first.at];
    await other?.job();
    other?.finish(1);
    expect(await session.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(session.of('error')).toEqual([]);
    expect(session.uiEvents(0)).toEqual([
      'INPUT_STARTED',
      'INPUT_ENDED',
      'DISPATCHED',
      'NODE_ACCEPTED',
      'ASR_FINAL',
      'NMT_DONE',
    ]);
  });

  it('partial text of an abandoned attempt does not reach the client', async () => {
    const app = await startApp({ ...QUICK, ...SHORT_TIMES });
    const registration = { supports: ['job_ack'] };
    const nodes = ['node-0', 'node-1'].map((nodeId) =>
      connectLegacyNode({ url: app.nodeUrl, nodeId, registration, answer: () => undefined }),
    );
    await app.readyNodes(2);
    const session = await openSession({ url: sessionUrl(app) });
    const holding = (not?: LegacyNode) =>
      eventually(() => nodes.find((node) => node !== not && node.jobs.length > 0));
    const say = async (node: LegacyNode, text: string) => {
      const { job_id, session_id, utterance_index, trace_id, attempt_id } = await node.job();
      const about = { job_id, session_id, trace_id, node_id: node.nodeId() };
      node.send({ type: 'job_ack', ...about, attempt_id });
      node.send({ type: 'asr_partial', ...about, utterance_index, text, is_final: false });
      // Answered when all before it is done.
      const before = node.frames.length;
      node.send({ type: 'nonsense' });
      await node.next('error', before);
    };
    session.send(spoken(session, 1));
    const first = await holding();
    await say(first, 'first');
    const second = await holding(first);
    await say(second, 'second');
    await say(first, 'late');
    second.reply(await second.job(), TRANSLATED);
    await session.outcome();
    expect(session.of('asr_partial').map(({ text }) => text)).toEqual(['first', 'second']);
  });
});

describe('the utterances of one session', () => {
  it('utterances of one session are spread over all nodes', async () => {
    const nodes = 8;
    const perSession = 1_000;
    const app = await startApp({
      ...QUICK,
      'server.limits.messages_per_second': 100_000,
      'server.limits.messages_burst': 100_000,
      'session.max_utterances': 10_000,
      'session.max_pending_results': 10_000,
      'scheduler.legacy_node_slots': 1_000,
    });
    const fleet = Array.from({ length: nodes }, (_, index) =>
      connectLegacyNode({ url: app.nodeUrl, nodeId: `node-${index}` }),
    );
    await app.readyNodes(nodes);
    const sessions = await open(sessionUrl(app), 2);
    for (const session of sessions) {
      for (let sent = 0; sent < perSession; sent += 50) {
        for (let index = sent; index < sent + 50; index += 1) session.send(utterance(session, index));
        await session.outcome(sent + 50);
      }
    }
    const shares = sessions.map((session) =>
      fleet.map(({ jobs }) => jobs.filter(({ session_id: id }) => id === session.sessionId()).length),
    );
    for (const [at, share] of shares.entries()) {
      expect(share.reduce((sum, count) => sum + count, 0)).toBe(perSession);
      // 7 degrees of freedom: by pure chance above this once in 100,000 runs.
      expect(chiSquare(share), `session ${at}: ${share.join(' ')}`).toBeLessThan(36.8);
      expect(sessions[at]?.outcomes().every(isTranslation)).toBe(true);
    }
  });
});

const isTranslation = ({ type }: Frame): boolean => type === 'translation_result';

function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}
