/** Messages to a legacy node, and its registration: one test per habit that docs/protocol.md documents. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, type Frame, type LegacyNodeOptions } from './support/legacy-node.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';

const join = (app: RunningApp, options: Omit<LegacyNodeOptions, 'url'> = {}) =>
  connectLegacyNode({ url: app.nodeUrl, ...options }).registered();

/** Mono, 16 bit, 8 kHz. */
function wav(samples: Buffer): string {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]).toString('base64');
}

describe('assignment to a legacy node', () => {
  it('jobs have is_manual_cut, and no is_pause_triggered, turn_id or deadline', async () => {
    const app = await startApp();
    const node = await join(app);
    await app.readyNodes(1);
    await app.dispatch();
    const job = await node.job();
    expect(job).toMatchObject({ is_manual_cut: true });
    for (const field of ['is_pause_triggered', 'turn_id', 'deadline_ms', 'audio_ref']) {
      expect(job).not.toHaveProperty(field);
    }
  });

  it('the audio is inline and not empty', async () => {
    const app = await startApp();
    const node = await join(app);
    await app.readyNodes(1);
    await app.dispatch();
    expect(await node.job()).toMatchObject({ audio: AUDIO, audio_format: 'pcm16', sample_rate: 16_000 });
  });

  it('a job with external audio is refused', async () => {
    const app = await startApp();
    await join(app);
    await app.readyNodes(1);
    const { status, body } = await app.tryDispatch({ audio: undefined, audio_ref: 'blob://...' });
    expect(status).toBe(503);
    expect(body.reasons).toMatchObject([{ reason: 'audio_ref_unsupported', count: 1 }]);
  });

  it('wav is unwrapped to pcm16 with the rate of its header', async () => {
    const app = await startApp();
    const node = await join(app);
    await app.readyNodes(1);
    const samples = Buffer.from([1, 0, 2, 0, 3, 0]);
    await app.dispatch({ audio: wav(samples), audio_format: 'wav', sample_rate: 16_000 });
    expect(await node.job()).toMatchObject({
      audio: samples.toString('base64'),
      audio_format: 'pcm16',
      sample_rate: 8_000,
    });
  });

  it('job_id and utterance_index never repeat in a session', async () => {
    const app = await startApp();
    const node = await join(app);
    await app.readyNodes(1);
    for (let count = 0; count < 12; count++) await app.settled((await app.dispatch()).job_id);
    const utterances = node.jobs.map((job) => job.utterance_index);
    expect(new Set(node.jobs.map((job) => job.job_id)).size).toBe(12);
    expect(utterances).toEqual([...new Set(utterances)].sort((a, b) => a - b));
  });

  it('source auto requires lang_a and lang_b', async () => {
    const app = await startApp();
    const node = await join(app);
    await app.readyNodes(1);
    const auto = { src_lang: 'auto', mode: 'two_way_auto' };
    const { status, body } = await app.tryDispatch(auto);
    expect([status, body.error]).toEqual([503, 'NO_CAPABLE_NODE']);
    await app.dispatch({ ...auto, lang_a: 'en', lang_b: 'zh' });
    expect(await node.job()).toMatchObject({ src_lang: 'auto', lang_a: 'en', lang_b: 'zh' });
  });
});

describe('registration of a legacy node', () => {
  it('a node without slots and NMT gets 2 slots and jobs', async () => {
    const app = await startApp();
    const node = await join(app, { answer: () => undefined });
    await app.readyNodes(1);
    expect(await app.nodes()).toMatchObject([
      { max_concurrent_jobs: 2, status: 'ready', delivery: 'socket' },
    ]);
    for (let count = 0; count < 2; count++) await app.dispatch({ src_lang: 'zh', tgt_lang: 'en' });
    expect(await node.job(2)).toBeDefined();
    const third = await app.tryDispatch();
    expect(third.body).toMatchObject({
      error: 'ALL_CANDIDATES_FULL_OR_FAILED',
      reasons: [{ reason: 'capacity_exceeded', count: 1 }],
    });
  });

  it('a slot is free when its job ends, whatever running_jobs says', async () => {
    const app = await startApp();
    const node = await join(app, { answer: () => undefined });
    await app.readyNodes(1);
    for (let count = 0; count < 2; count++) await app.dispatch();
    expect(await node.job(2)).toBeDefined();
    const beats = async () => (await app.nodes())[0]?.last_heartbeat_at_ms;
    const before = await beats();
    await eventually(async () => {
      node.beat();
      return (await beats()) !== before;
    });
    expect((await app.nodes())[0]?.used_slots).toBe(2);
    expect((await app.tryDispatch()).body.error).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
  });

  it('a node with empty language lists gets no jobs', async () => {
    const app = await startApp();
    const node = await join(app, { languages: [] });
    await eventually(async () => (await app.nodes()).length === 1);
    node.beat();
    const { body } = await app.tryDispatch();
    expect(body).toMatchObject({ error: 'NO_CAPABLE_NODE' });
  });

  it('a null id is replaced by the id of the acknowledgement', async () => {
    const app = await startApp();
    const node = await join(app);
    expect(node.nodeId()).toMatch(/^node-/);
    await app.readyNodes(1);
    expect(await app.nodes()).toMatchObject([{ node_id: node.nodeId() }]);
  });

  it('a known node_id replaces the old socket', async () => {
    const app = await startApp();
    const old = await join(app, { nodeId: 'node-7', reconnectMs: 60_000 });
    await app.readyNodes(1);
    const newest = await join(app, { nodeId: 'node-7' });
    await eventually(() => !old.isOpen());
    expect(newest.isOpen()).toBe(true);
    await app.readyNodes(1);
    await app.settled((await app.dispatch()).job_id);
    expect([old.jobs.length, newest.jobs.length]).toEqual([0, 1]);
    expect(await app.nodes()).toHaveLength(1);
  });

  it('an id of another credential is replaced by a new one', async () => {
    const token = (name: string) => `${name}-token-of-16-characters`;
    const rows = ['first', 'second'].map(
      (name) => `[[server.tokens]]\ntoken = "${token(name)}"\nrole = "node"\n`,
    );
    const app = await startApp({}, rows.join(''));
    const by = (name: string) =>
      connectLegacyNode({ url: `${app.nodeUrl}?token=${token(name)}`, nodeId: 'node-7' }).registered();
    const holder = await by('first');
    const other = await by('second');
    expect(holder.nodeId()).toBe('node-7');
    expect(other.nodeId()).toMatch(/^node-.{10,}/);
    expect([holder.isOpen(), other.isOpen()]).toEqual([true, true]);
    other.beat();
    await eventually(() => app.app.registry.get(other.nodeId() ?? '')?.view.health === 'ready');
  });

  it('a refused registration closes the socket', async () => {
    const app = await startApp();
    const node = connectLegacyNode({
      url: app.nodeUrl,
      registration: { capability_schema_version: '9.9' },
      reconnectMs: 60_000,
    });
    expect(await node.next('error')).toMatchObject({ code: 'INVALID_CAPABILITY_SCHEMA' });
    await eventually(() => !node.isOpen());
  });
});

describe('connection of a legacy node', () => {
  it('no job is sent before node_register_ack', async () => {
    const app = await startApp({ 'scheduler.legacy_node_slots': 4 });
    const node = await join(app, { nodeId: 'node-7', answer: () => undefined });
    await app.readyNodes(1);
    await Promise.all([1, 2, 3, 4].map(() => app.dispatch()));
    const waiting = [1, 2, 3].map(() => app.tryDispatch({ wait_ms: 5_000 }));
    await eventually(() => app.app.jobs.waiting() === 3);
    node.drop();
    await eventually(() => node.connections() === 2 && node.jobs.length >= 4);
    await node.registered();
    node.beat();
    for (const job of node.jobs.slice(0, 4))
      node.reply(job, { success: true, text_asr: '', text_translated: '' });
    const types = node.frames.map(({ type }) => type);
    expect(node.early).toEqual([]);
    expect(types.indexOf('node_register_ack')).toBeLessThan(types.indexOf('job_assign'));
    await eventually(() => node.jobs.length > 4);
    await Promise.allSettled(waiting);
  });

  it('a heartbeat before the registration is accepted on a reconnect', async () => {
    const app = await startApp({ 'server.limits.max_invalid_messages': 0 });
    const node = await join(app, { nodeId: 'node-7' });
    await app.readyNodes(1);
    node.drop();
    await eventually(() => node.connections() === 2);
    await node.registered();
    await app.readyNodes(1);
    expect(node.frames.filter(({ type }: Frame) => type === 'error')).toEqual([]);
    expect(node.isOpen()).toBe(true);
    await app.settled((await app.dispatch()).job_id);
  });

  it('a node reconnects once to a restarted scheduler, under its id', async () => {
    const app = await startApp();
    const { port } = new URL(app.url);
    const node = await join(app, { reconnectMs: 1_000 });
    const nodeId = node.nodeId();
    await app.app.stop();
    const restarted = await startApp({ 'server.port': port });
    await restarted.readyNodes(1);
    expect(await restarted.nodes()).toMatchObject([{ node_id: nodeId }]);
    expect((await restarted.settled((await restarted.dispatch()).job_id)).result).toMatchObject({
      success: true,
    });
    expect(node.connections()).toBe(2);
  });

  it('a node whose second connection breaks does not return', async () => {
    const app = await startApp();
    const node = await join(app);
    for (const count of [1, 2]) {
      await eventually(() => node.connections() === count && node.isOpen());
      await app.readyNodes(1);
      node.drop();
      await eventually(() => app.app.registry.get(node.nodeId() ?? '')?.view.isConnected === false);
    }
    expect((await app.tryDispatch()).body).toMatchObject({ error: 'ALL_CANDIDATES_FULL_OR_FAILED' });
    expect(node.connections()).toBe(2);
  });

  it('the connection stays open during a drain, which withholds jobs', async () => {
    const app = await startApp();
    const node = await join(app, { nodeId: 'node-7', answer: () => undefined });
    await app.readyNodes(1);
    const { job_id } = await app.dispatch();
    const job = await node.job();
    expect((await app.post('/api/v1/nodes/node-7/drain')).body).toMatchObject({
      ok: true,
      status: 'draining',
    });
    expect((await app.tryDispatch()).body).toMatchObject({ error: 'ALL_CANDIDATES_FULL_OR_FAILED' });
    node.beat();
    node.reply(job, { success: true, text_asr: 'hello', text_translated: '你好' });
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
    expect(node.jobs).toHaveLength(1);
    expect(node.isOpen()).toBe(true);
    await app.post('/api/v1/nodes/node-7/uncordon');
    await eventually(async () => (await app.tryDispatch()).status === 200);
  });
});
