/** How a node registers, which events follow, and why it may be refused. */
import { describe, expect, it } from 'vitest';
import type { Direction } from '../../src/domain/language.ts';
import { aRegistration, createFixture, READY_REPORT, SDK_TRAITS } from './registry-fixture.ts';

describe('a registration', () => {
  it('answers with id, generation, health and interval', async () => {
    const { join } = createFixture();
    expect(await join()).toEqual({
      kind: 'registered',
      nodeId: 'node-1',
      generation: 1,
      health: 'registering',
      heartbeatIntervalMs: 15_000,
      isReturning: false,
    });
  });

  it('publishes the view, then the load, then the connection', async () => {
    const { join, events } = createFixture();
    await join({ runningJobIds: ['job-1'] });
    expect(events).toMatchObject([
      { event: 'changed', view: { nodeId: 'node-1', health: 'registering', isFresh: true, slots: 4 } },
      { event: 'loaded', nodeId: 'node-1', load: { used: 1, max: 4 } },
      { event: 'connected', nodeId: 'node-1', runningJobIds: ['job-1'] },
    ]);
  });

  it('chooses an id for a node without one', async () => {
    const { registry } = createFixture();
    const { nodeId: _, ...nameless } = aRegistration();
    expect(await registry.register(nameless)).toMatchObject({ kind: 'registered', nodeId: 'node-made-1' });
  });

  it('gives the default slots to a node that declares none', async () => {
    const { join, view } = createFixture();
    await join({ nodeId: 'node-a', traits: SDK_TRAITS });
    await join({ nodeId: 'node-b', traits: SDK_TRAITS, slots: 9 });
    await join({ nodeId: 'node-c', traits: SDK_TRAITS, slots: -3 });
    await join({ nodeId: 'node-d', traits: SDK_TRAITS, slots: Number.NaN });
    expect(['a', 'b', 'c', 'd'].map((message) => view(`node-${message}`)?.slots)).toEqual([4, 9, 0, 4]);
  });

  it('gives the node no jobs before its first healthy heartbeats', async () => {
    const { join, beat, ledger } = createFixture();
    await join();
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    await beat();
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('of an HTTP node that reports ready needs no first heartbeat', async () => {
    const { join, ledger, of } = createFixture();
    expect((await join({ channel: 'mailbox', health: 'ready' })).health).toBe('ready');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
    expect(of('statusChanged')).toEqual([]);
  });

  it('shares one profile between nodes with equal reports', async () => {
    const { join, view } = createFixture();
    await join({ nodeId: 'node-a' });
    await join({ nodeId: 'node-b', report: structuredClone(READY_REPORT) });
    await join({ nodeId: 'node-c', report: { ...READY_REPORT, types: [] } });
    expect(view('node-b')?.profile).toBe(view('node-a')?.profile);
    expect(view('node-c')?.profile).not.toBe(view('node-a')?.profile);
  });

  it('reads the figures of the node', async () => {
    const { join, view, registry } = createFixture();
    await join({
      resources: { cpuPercent: 90, runningJobs: 0, gpuQueueLength: 2 },
      version: '1.2',
      platform: 'linux',
      region: 'eu',
      zone: 'b',
    });
    expect(view('node-1')).toMatchObject({ isCalm: false, isQueueing: true });
    expect(registry.get('node-1')).toMatchObject({
      version: '1.2',
      platform: 'linux',
      region: 'eu',
      zone: 'b',
    });
  });
});

describe('a registration is refused', () => {
  it('for an unknown schema version', async () => {
    const { registry, events } = createFixture();
    for (const schemaVersion of ['1.0', '2.0']) {
      expect(await registry.register(aRegistration({ schemaVersion }))).toMatchObject({ kind: 'registered' });
    }
    events.length = 0;
    expect(await registry.register(aRegistration({ schemaVersion: '3.0' }))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_CAPABILITY_SCHEMA',
    });
    expect(events).toEqual([]);
  });

  it('without a GPU, if one is required', async () => {
    const traits = { ...SDK_TRAITS, gpuCount: 0 };
    expect(await createFixture().registry.register(aRegistration({ traits }))).toMatchObject({
      kind: 'registered',
    });
    expect(
      await createFixture({ requireGpu: true }).registry.register(aRegistration({ traits })),
    ).toMatchObject({
      code: 'NO_GPU_AVAILABLE',
    });
  });

  it('at the limit of nodes, except for a known node', async () => {
    const { registry, join } = createFixture({ maxNodes: 2 });
    await join({ nodeId: 'node-a' });
    await join({ nodeId: 'node-b' });
    expect(await registry.register(aRegistration({ nodeId: 'node-c' }))).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('max_nodes'),
    });
    expect(await registry.register(aRegistration({ nodeId: 'node-b' }))).toMatchObject({
      kind: 'registered',
    });
  });

  it('for an invalid id', async () => {
    const { registry } = createFixture();
    expect(await registry.register(aRegistration({ nodeId: 'a b' }))).toMatchObject({
      code: 'INVALID_MESSAGE',
    });
  });

  it('for more than 4096 explicit pairs, with a helpful message', async () => {
    const { registry } = createFixture();
    const pairs: Direction[] = Array.from({ length: 4_097 }, (_, index) => ({
      source: `s${index % 101}`,
      target: `t${Math.floor(index / 101)}`,
    }));
    const languages = { semantic: ['zh'], pairs };
    expect(await registry.register(aRegistration({ report: { ...READY_REPORT, languages } }))).toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringMatching(/language_capabilities.*4097.*4096.*any_to_any/),
    });
  });

  it('for models whose union has more than ten thousand pairs', async () => {
    const { registry } = createFixture();
    const block = (message: string) => ({
      languages: Array.from({ length: 110 }, (_, index) => `${message}${index}`),
      rule: 'any_to_any',
      blockedPairs: [],
      supportedPairs: [],
    });
    const languages = { translations: [block('a'), block('b')] };
    expect(await registry.register(aRegistration({ report: { ...READY_REPORT, languages } }))).toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('11990'),
    });
  });

  it('for lists that are too long', async () => {
    const { registry } = createFixture();
    const asr = Array.from({ length: 2_001 }, (_, index) => `l${index}`);
    expect(
      await registry.register(aRegistration({ report: { models: [], languages: { asr } } })),
    ).toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('asr_languages'),
    });
  });
});

describe('a conflict of ids', () => {
  it('gives a fresh id to a node on a socket', async () => {
    const { join, registry } = createFixture();
    await join({ credential: 'alice' });
    const other = await join({ credential: 'bob' });
    expect(other).toMatchObject({ nodeId: 'node-made-1', isReturning: false });
    expect(registry.get('node-1')?.generation).toBe(1);
    expect(registry.list({ limit: 10 }).nodes).toHaveLength(2);
  });

  it('is an error for a node whose id is fixed, and leaves no other node', async () => {
    const { join, registry } = createFixture();
    await join({ credential: 'alice' });
    expect(await registry.register(aRegistration({ credential: 'bob', isIdFixed: true }))).toMatchObject({
      code: 'NODE_ID_CONFLICT',
    });
    expect(registry.list({ limit: 10 }).nodes.map(({ view }) => view.nodeId)).toEqual(['node-1']);
  });

  it('is an error over HTTP', async () => {
    const { join, registry } = createFixture();
    await join({ credential: 'alice' });
    expect(await registry.register(aRegistration({ credential: 'bob', channel: 'mailbox' }))).toMatchObject({
      code: 'NODE_ID_CONFLICT',
    });
  });
});

describe('registering again', () => {
  it('keeps the id with a higher generation and needs new healthy heartbeats', async () => {
    const { readyNode, join, health, ledger } = createFixture();
    const first = await readyNode();
    expect(health('node-1')).toBe('ready');
    const second = await join();
    expect(second.isReturning).toBe(true);
    expect(second.generation).toBeGreaterThan(first.generation);
    expect(second.health).toBe('registering');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });

  it('replaces the earlier report', async () => {
    const { join, view } = createFixture();
    await join({ traits: SDK_TRAITS, slots: 8 });
    await join({ traits: SDK_TRAITS, report: { ...READY_REPORT, languages: { semantic: ['ja'] } } });
    expect(view('node-1')).toMatchObject({ slots: 4, profile: { semantic: ['ja'] } });
  });

  it('lets the newest connection win if the store answers it first', async () => {
    const { registry, join, hold, of, ledger } = createFixture();
    const open = hold('declare');
    const older = registry.register(aRegistration({ traits: SDK_TRAITS, slots: 1 }));
    const newer = await join({ traits: SDK_TRAITS, slots: 2 });
    open();
    expect(await older).toMatchObject({ kind: 'refused', code: 'NODE_ID_CONFLICT' });
    expect(registry.get('node-1')).toMatchObject({ generation: newer.generation, view: { slots: 2 } });
    expect(of('connected')).toHaveLength(1);
    expect((await ledger.loads(['node-1'])).get('node-1')).toEqual({ used: 0, max: 2 });
  });

  it('applies a command that came while the store was called', async () => {
    const { registry, readyNode, hold, view, ledger, clock } = createFixture();
    await readyNode({ channel: 'mailbox', health: 'ready' });
    const open = hold('declare');
    const again = registry.register(aRegistration({ channel: 'mailbox', health: 'ready' }));
    await clock.advance(0);
    await registry.control('node-1', 'cordon');
    open();
    expect(await again).toMatchObject({ kind: 'registered' });
    await clock.advance(1_000);
    expect(view('node-1')?.isCordoned).toBe(true);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });
});
