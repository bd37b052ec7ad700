/** Connections come, are replaced and go; only the newest one counts. */
import { describe, expect, it } from 'vitest';
import { createFixture, READY_REPORT, SDK_TRAITS } from './registry-fixture.ts';

describe('the loss of a socket', () => {
  it('removes the node from selection before its jobs are retried', async () => {
    const { readyNode, registry, events, news } = createFixture();
    const { generation } = await readyNode();
    news();
    registry.disconnected('node-1', generation);
    expect(events).toMatchObject([
      { event: 'changed', view: { isConnected: false, isFresh: true, health: 'ready' } },
      { event: 'disconnected', nodeId: 'node-1', graceMs: 0 },
    ]);
    expect(registry.get('node-1')?.view.isConnected).toBe(false);
  });

  it('makes the node disconnected, its heartbeat is not stale', async () => {
    const { readyNode, registry, view } = createFixture();
    const { generation, nodeId } = await readyNode();
    registry.disconnected(nodeId, generation);
    expect(view(nodeId)).toMatchObject({ isConnected: false, isFresh: true });
  });

  it('has a grace period, except for legacy nodes', async () => {
    const { readyNode, registry, of } = createFixture();
    const field = await readyNode({ nodeId: 'node-field' });
    const sdk = await readyNode({ nodeId: 'node-sdk', traits: SDK_TRAITS });
    registry.disconnected('node-field', field.generation);
    registry.disconnected('node-sdk', sdk.generation);
    expect(of('disconnected').map(({ graceMs }) => graceMs)).toEqual([0, 2_000]);
  });

  it('makes the node offline after the grace period', async () => {
    const { readyNode, registry, clock, health, of, ledger } = createFixture();
    const { generation } = await readyNode({ traits: SDK_TRAITS });
    registry.disconnected('node-1', generation);
    await clock.advance(1_500);
    expect(health('node-1')).toBe('ready');
    await clock.advance(1_500);
    expect(health('node-1')).toBe('offline');
    expect(of('statusChanged').at(-1)).toMatchObject({ health: 'offline', reason: 'disconnected' });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });

  it('does not close a node in the ledger that reconnected to another instance', async () => {
    const { readyNode, registry, clock, health, ledger } = createFixture();
    const { generation } = await readyNode();
    await ledger.declare('node-1', { slots: 2, isAccepting: true, claim: generation + 1 });
    registry.disconnected('node-1', generation);
    await clock.advance(1_000);
    expect(health('node-1')).toBe('offline');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('of a replaced connection changes nothing', async () => {
    const { readyNode, registry, events, news } = createFixture();
    const old = await readyNode();
    const fresh = await readyNode();
    news();
    registry.disconnected('node-1', old.generation);
    expect(events).toEqual([]);
    expect(registry.get('node-1')).toMatchObject({
      view: { isConnected: true },
      generation: fresh.generation,
    });
  });

  it('is published once', async () => {
    const { readyNode, registry, of } = createFixture();
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    registry.disconnected('node-1', generation);
    registry.disconnected('node-unknown', 1);
    expect(of('disconnected')).toHaveLength(1);
  });

  it('ends with a reconnect, which reports the running jobs', async () => {
    const { readyNode, join, beat, registry, view, of } = createFixture();
    const { generation } = await readyNode({ traits: SDK_TRAITS });
    registry.disconnected('node-1', generation);
    const back = await join({ traits: SDK_TRAITS, runningJobIds: ['job-7'] });
    expect(of('connected').at(-1)?.runningJobIds).toEqual(['job-7']);
    await beat({ generation: back.generation });
    expect(view('node-1')).toMatchObject({ isFresh: true, health: 'ready' });
  });
});

describe('a heartbeat', () => {
  it('over an old connection does not count', async () => {
    const { readyNode, join, beat, health } = createFixture();
    const old = await readyNode();
    await join();
    expect(await beat({ generation: old.generation })).toEqual({ kind: 'stale_generation' });
    expect(health('node-1')).toBe('registering');
  });

  it('that arrives after the socket closed does not count', async () => {
    const { readyNode, registry, beat, view } = createFixture();
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    expect(await beat({ generation })).toEqual({ kind: 'stale_generation' });
    expect(view('node-1')?.isConnected).toBe(false);
  });

  it('over HTTP does not revive a node whose socket was lost', async () => {
    const { readyNode, registry, beat } = createFixture();
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    expect(await beat()).toEqual({ kind: 'unknown_node' });
  });
});

describe('a node that registered over HTTP', () => {
  const overHttp = { channel: 'mailbox', health: 'ready', traits: SDK_TRAITS, slots: 7 } as const;

  it('stays connected without a socket', async () => {
    const { join, registry, clock, health, of } = createFixture();
    const { generation } = await join(overHttp);
    registry.disconnected('node-1', generation);
    await clock.advance(5_000);
    expect(of('disconnected')).toEqual([]);
    expect(health('node-1')).toBe('ready');
  });

  it('stays online by heartbeats alone', async () => {
    const { join, beat, clock, health } = createFixture();
    await join(overHttp);
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(30_000);
      await beat();
    }
    expect(health('node-1')).toBe('ready');
    await clock.advance(60_000);
    expect(health('node-1')).toBe('offline');
    await beat();
    expect(health('node-1')).toBe('ready');
  });

  it('keeps its state and missing fields when it opens a socket', async () => {
    const { join, registry, of } = createFixture();
    const models = [{ modelId: 'm', kind: 'tts', targetLanguage: 'ja', isEnabled: true }];
    await join({ ...overHttp, report: { models, languages: { semantic: ['en', 'zh'] } } });
    const socket = await join({
      channel: 'socket',
      traits: { features: [], gpuCount: 1 },
      report: { models: [] },
    });
    expect(socket.health).toBe('ready');
    expect(registry.get('node-1')).toMatchObject({
      channel: 'socket',
      view: {
        health: 'ready',
        slots: 7,
        profile: { semantic: ['en', 'zh'], tts: ['ja'], isLegacy: false },
      },
    });
    expect(of('connected')).toHaveLength(2);
  });

  it('may register over HTTP again while its socket is open', async () => {
    const { join, registry, beat, of } = createFixture();
    await join(overHttp);
    const socket = await join({ channel: 'socket', traits: SDK_TRAITS });
    const again = await join({ ...overHttp, slots: 3 });
    expect(again.generation).toBe(socket.generation);
    expect(registry.get('node-1')).toMatchObject({ channel: 'socket', view: { health: 'ready', slots: 3 } });
    expect(await beat({ generation: socket.generation })).toEqual({ kind: 'beat', health: 'ready' });
    expect(of('connected')).toHaveLength(2);
  });

  it('uses its mailbox again after its socket is lost', async () => {
    const { join, registry, beat, clock, of } = createFixture();
    await join(overHttp);
    const { generation } = await join({ channel: 'socket', traits: SDK_TRAITS });
    registry.disconnected('node-1', generation);
    expect(of('disconnected')).toMatchObject([{ graceMs: 2_000 }]);
    await clock.advance(5_000);
    expect(await beat({ runningJobIds: ['job-3'] })).toEqual({ kind: 'beat', health: 'ready' });
    expect(registry.get('node-1')).toMatchObject({ channel: 'mailbox', view: { isConnected: true } });
    expect(of('connected').at(-1)?.runningJobIds).toEqual(['job-3']);
  });

  it('keeps the endpoint it gave', async () => {
    const { join, registry } = createFixture();
    await join({ ...overHttp, channel: 'endpoint', endpoint: 'http://10.0.0.1/jobs' });
    expect(registry.get('node-1')).toMatchObject({ channel: 'endpoint', endpoint: 'http://10.0.0.1/jobs' });
  });

  it('starts anew when it had been offline', async () => {
    const { join, clock } = createFixture();
    await join({ ...overHttp, report: READY_REPORT });
    await clock.advance(60_000);
    expect((await join({ channel: 'socket' })).health).toBe('registering');
  });
});
