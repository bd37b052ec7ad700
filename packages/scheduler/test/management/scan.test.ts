/** What is noticed when nothing is heard, and how little it costs to notice. */
import { describe, expect, it } from 'vitest';
import { COLD_REPORT, createFixture, SDK_TRAITS } from './registry-fixture.ts';

describe('silence', () => {
  it('makes a node stale after three intervals, and then offline', async () => {
    const { readyNode, clock, view, events, news } = createFixture({ heartbeatIntervalMs: 13_500 });
    await readyNode({ traits: SDK_TRAITS });
    news();
    await clock.advance(40_000);
    expect(view('node-1')).toMatchObject({ isFresh: true, health: 'ready' });
    await clock.advance(1_000);
    expect(view('node-1')).toMatchObject({ isFresh: false, health: 'ready' });
    await clock.advance(5_000);
    expect(view('node-1')).toMatchObject({ isFresh: false, health: 'offline' });
    expect(events).toMatchObject([
      { event: 'changed', view: { isFresh: false, health: 'ready' } },
      { event: 'changed', view: { isFresh: false, health: 'offline' } },
      { event: 'statusChanged', health: 'offline', reason: 'heartbeat_timeout' },
      { event: 'loaded' },
    ]);
  });

  it('uses the configured limit if there is one', async () => {
    const { readyNode, clock, view } = createFixture({ heartbeatStaleMs: 5_000 });
    await readyNode();
    await clock.advance(6_000);
    expect(view('node-1')).toMatchObject({ isFresh: false, health: 'ready' });
    await clock.advance(40_000);
    expect(view('node-1')?.health).toBe('offline');
  });

  it('of legacy nodes is measured by their own interval', async () => {
    const { readyNode, clock, view } = createFixture({
      heartbeatIntervalMs: 1_000,
      heartbeatTimeoutMs: 3_000,
    });
    await readyNode({ nodeId: 'node-field' });
    await readyNode({ nodeId: 'node-sdk', traits: SDK_TRAITS });
    await clock.advance(20_000);
    expect(view('node-field')).toMatchObject({ isFresh: true, health: 'ready' });
    expect(view('node-sdk')?.health).toBe('offline');
  });

  it('ends with a heartbeat over the open connection', async () => {
    const { readyNode, beat, clock, view, of } = createFixture();
    const { generation } = await readyNode();
    await clock.advance(60_000);
    expect(view('node-1')?.health).toBe('offline');
    expect(await beat({ generation })).toEqual({ kind: 'beat', health: 'ready' });
    expect(view('node-1')).toMatchObject({ isFresh: true, health: 'ready' });
    expect(of('statusChanged').map(({ health }) => health)).toEqual([
      'ready',
      'offline',
      'registering',
      'ready',
    ]);
  });

  it('does not make a node offline while it sends heartbeats', async () => {
    const { readyNode, beat, clock, of } = createFixture();
    await readyNode();
    for (let round = 0; round < 20; round += 1) {
      await clock.advance(15_000);
      await beat();
    }
    expect(of('statusChanged').map(({ health }) => health)).toEqual(['ready']);
  });
});

describe('a slow start', () => {
  it('is degraded after the warm-up time, although heartbeats come', async () => {
    const { join, beat, clock, of } = createFixture();
    await join({ report: COLD_REPORT });
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(12_500);
      await beat();
    }
    expect(of('statusChanged')).toMatchObject([{ health: 'degraded', reason: 'warmup_timeout' }]);
  });
});

describe('a node that stays offline', () => {
  async function lostNode(change = {}) {
    const fixture = createFixture(change);
    const { generation } = await fixture.readyNode();
    fixture.registry.disconnected('node-1', generation);
    await fixture.clock.advance(1_000);
    return fixture;
  }

  it('is removed everywhere after its time', async () => {
    const { clock, registry, of, ledger, nodeIdClaims } = await lostNode();
    await clock.advance(600_000);
    expect(registry.get('node-1')).toBeDefined();
    await clock.advance(2_000);
    expect(registry.get('node-1')).toBeUndefined();
    expect(of('removed')).toEqual([{ event: 'removed', nodeId: 'node-1' }]);
    expect(await nodeIdClaims.current('node-1')).toBeUndefined();
    expect((await ledger.loads(['node-1'])).size).toBe(0);
  });

  it('is kept while it reports itself offline, and ready with the next "ready"', async () => {
    const { clock, registry, readyNode, beat } = createFixture();
    await readyNode();
    for (let second = 0; second <= 700; second += 10) {
      await beat({ health: 'offline' });
      await clock.advance(10_000);
    }
    expect(registry.get('node-1')?.view.health).toBe('offline');
    await beat({ health: 'ready' });
    expect(registry.get('node-1')?.view.health).toBe('ready');
  });

  it('is kept for ever if configured', async () => {
    const { clock, registry } = await lostNode({ removeStaleAfterMs: 0 });
    await clock.advance(700_000);
    expect(registry.get('node-1')?.view.health).toBe('offline');
  });

  it('makes room for another node when it is removed', async () => {
    const { clock, join } = await lostNode({ maxNodes: 1 });
    await expect(join({ nodeId: 'node-2' })).rejects.toThrow('RATE_LIMITED');
    await clock.advance(602_000);
    expect((await join({ nodeId: 'node-2' })).isReturning).toBe(false);
  });

  it('keeps its leases when another instance holds it now', async () => {
    const { clock, registry, ledger, nodeIdClaims } = await lostNode();
    await nodeIdClaims.claim('node-1', 'alice');
    await clock.advance(602_000);
    expect(registry.get('node-1')).toBeUndefined();
    expect((await ledger.loads(['node-1'])).size).toBe(1);
    expect(await nodeIdClaims.current('node-1')).toBeDefined();
  });

  it('is new when it registers during its removal, and waits for that', async () => {
    const { clock, registry, join, hold, ledger, of } = await lostNode();
    const open = hold('forget');
    await clock.advance(602_000);
    expect(of('removed')).toEqual([]);
    const back = join();
    await clock.advance(0);
    open();
    const outcome = await back;
    expect(outcome.isReturning).toBe(false);
    expect(of('removed')).toHaveLength(1);
    expect(registry.get('node-1')?.generation).toBe(outcome.generation);
    expect((await ledger.loads(['node-1'])).size).toBe(1);
  });

  it('is not removed while it registers', async () => {
    const { clock, join, hold, of, health } = await lostNode();
    await clock.advance(595_000);
    const open = hold('claim');
    const back = join();
    await clock.advance(30_000);
    open();
    await back;
    expect(of('removed')).toEqual([]);
    expect(health('node-1')).toBe('registering');
  });

  it('is not published again by a late answer after its removal', async () => {
    const { clock, join, beat, registry, hold, of, events } = createFixture();
    const { generation } = await join();
    const open = hold('declare');
    void beat({ generation });
    await clock.advance(0);
    registry.disconnected('node-1', generation);
    await clock.advance(610_000);
    expect(of('removed')).toHaveLength(1);
    events.length = 0;
    open();
    await clock.advance(0);
    expect(events).toEqual([]);
  });

  it('is unknown to a heartbeat during its removal', async () => {
    const { clock, join, beat, hold } = createFixture();
    await join({ channel: 'mailbox' });
    const open = hold('forget');
    await clock.advance(660_000);
    expect(await beat()).toEqual({ kind: 'unknown_node' });
    open();
  });
});

describe('the scan', () => {
  it('checks a bounded number of nodes at a time, and all of them', async () => {
    const { readyNode, clock, registry, health, calls } = createFixture({ scanBatch: 10 });
    for (let index = 0; index < 45; index += 1) {
      const { nodeId, generation } = await readyNode({ nodeId: `node-${index}` });
      registry.disconnected(nodeId, generation);
    }
    calls.length = 0;
    await clock.advance(1_000);
    expect(calls.filter((name) => name === 'declare')).toHaveLength(10);
    await clock.advance(10);
    expect(calls.filter((name) => name === 'declare')).toHaveLength(45);
    expect(health('node-44')).toBe('offline');
  });

  it('runs at least once a second, whatever is configured', async () => {
    const { readyNode, registry, clock, health } = createFixture({ scanIntervalMs: 30_000 });
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    await clock.advance(1_000);
    expect(health('node-1')).toBe('offline');
  });

  it('sets no node offline after a clock jump or a frozen process', async () => {
    const { readyNode, beat, clock, health } = createFixture();
    await readyNode();
    clock.jump(3_600_000);
    await clock.advance(2_000);
    expect(health('node-1')).toBe('ready');
    await beat();
    await clock.advance(20_000);
    expect(health('node-1')).toBe('ready');
  });

  it('sets silent nodes offline after the clock was set back', async () => {
    const { readyNode, clock, health } = createFixture();
    await readyNode();
    clock.jump(-3_600_000);
    await clock.advance(40_000);
    expect(health('node-1')).toBe('ready');
    await clock.advance(10_000);
    expect(health('node-1')).toBe('offline');
  });

  it('sets the gauge of nodes by health', async () => {
    const { readyNode, join, registry, gauges } = createFixture();
    await readyNode({ nodeId: 'node-a' });
    await join({ nodeId: 'node-b' });
    registry.measure();
    expect(gauges.get('scheduler_nodes ready')).toBe(1);
    expect(gauges.get('scheduler_nodes registering')).toBe(1);
    expect(gauges.get('scheduler_nodes offline')).toBe(0);
  });

  it('ends when the registry stops', async () => {
    const { registry, clock } = createFixture();
    expect(clock.pending()).toBe(1);
    registry.stop();
    expect(clock.pending()).toBe(0);
  });
});
