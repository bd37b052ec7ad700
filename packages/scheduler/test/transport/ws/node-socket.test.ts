import { afterEach, describe, expect, it } from 'vitest';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { HEARTBEAT_INTERVAL_MS } from './fakes.ts';
import { type Client, type Harness, startHarness, until } from './harness.ts';
import { heartbeat, jobResult, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

async function registered(nodeId: string, fields = {}): Promise<Client> {
  const client = await harness.connect();
  client.send(register({ node_id: nodeId, ...fields }));
  await client.message(0);
  return client;
}

describe('registration of a node', () => {
  it('the ack has id, state, heartbeat interval and generation', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    expect(await client.message(0)).toEqual({
      type: 'node_register_ack',
      node_id: 'node-a',
      message: 'registered',
      status: 'registering',
      heartbeat_interval_ms: HEARTBEAT_INTERVAL_MS,
      generation: 1,
    });
    expect(harness.sockets.isConnected('node-a')).toBe(true);
  });

  it('every optional field may be null', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send({
      ...register(),
      node_id: null,
      installed_services: null,
      capability_state: null,
      language_capabilities: { asr_languages: null, nmt_capabilities: null },
      hardware: { cpu_cores: 4, memory_gb: 8, gpus: null },
      features_supported: { emotion_detection: null },
      advanced_features: null,
      max_concurrent_jobs: null,
      supports: null,
      running_job_ids: null,
    });
    expect(await client.message(0)).toMatchObject({ type: 'node_register_ack', node_id: 'node-fresh-1' });
    expect(harness.registry.registrations[0]).toEqual({
      credential: 'peer:loopback',
      channel: 'socket',
      version: '2.3.1',
      platform: 'win32',
      hardware: { cpuCores: 4, memoryGb: 8, gpusGb: [] },
      schemaVersion: '2.0',
      traits: { features: [], gpuCount: 0 },
      report: {
        models: [],
        types: [
          { type: 'asr', isReady: true },
          { type: 'nmt', isReady: true },
        ],
        languages: {},
      },
    });
  });

  it('a heartbeat before the registration is ignored', async () => {
    harness = await startHarness({ settings: { maxInvalidMessages: 0 } });
    const client = await harness.connect();
    for (let beats = 0; beats < 5; beats += 1) client.send(heartbeat('node-a'));
    client.send(register({ node_id: 'node-a' }));
    expect(await client.message(0)).toMatchObject({ type: 'node_register_ack' });
    expect(harness.registry.beats).toEqual([]);
  });

  it('the ack is the first message that a node receives', async () => {
    harness = await startHarness();
    harness.registry.during = () => {
      expect(harness.sockets.send('node-a', { type: 'node_control', command: 'reload_config' })).toBe(false);
      harness.sockets.pushStatus('node-a', 'registering', 'too early');
    };
    const client = await registered('node-a');
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'reload_config' })).toBe(true);
    expect((await client.message(1)).type).toBe('node_control');
    expect(client.received.map(({ type }) => type)).toEqual(['node_register_ack', 'node_control']);
  });

  it('messages behind a registration are handled after it', async () => {
    harness = await startHarness();
    let finishRegistration = () => {};
    harness.registry.during = () =>
      new Promise((resolve) => {
        finishRegistration = resolve;
      });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    client.send(heartbeat('node-a'));
    client.send(jobResult('node-a'));
    await until(() => harness.registry.registrations.length === 1);
    expect(harness.registry.beats).toEqual([]);
    finishRegistration();
    await until(() => harness.jobs.calls.length === 1);
    expect(harness.registry.beats).toMatchObject([{ nodeId: 'node-a', generation: 1 }]);
    expect(client.received.map(({ type }) => type)).toEqual(['node_register_ack']);
  });

  it('a newer socket replaces the older one of the same node', async () => {
    harness = await startHarness();
    const old = await registered('node-a');
    const young = await registered('node-a');
    expect(await old.closed).toEqual({ code: 4000, reason: 'replaced' });
    await until(() => harness.registry.left.length === 1);
    expect(harness.registry.left).toEqual([{ nodeId: 'node-a', generation: 1 }]);
    harness.sockets.pushStatus('node-a', 'ready', 'checked');
    expect(await young.message(1)).toEqual({
      type: 'node_status',
      node_id: 'node-a',
      status: 'ready',
      reason: 'checked',
      timestamp: 1_000,
    });
    expect(harness.sockets.isConnected('node-a')).toBe(true);
  });

  it('the old socket stays when the new registration is refused', async () => {
    harness = await startHarness();
    const old = await registered('node-a');
    harness.registry.refusal = { kind: 'refused', code: 'NO_GPU_AVAILABLE', message: 'no GPU' };
    const young = await harness.connect();
    young.send(register({ node_id: 'node-a' }));
    expect((await young.closed).code).toBe(1008);
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'reload_config' })).toBe(true);
    expect((await old.message(1)).type).toBe('node_control');
  });

  it('a registration that finishes after a newer one is replaced', async () => {
    harness = await startHarness();
    const turns: (() => void)[] = [];
    harness.registry.during = () => new Promise<void>((resolve) => turns.push(resolve));
    const first = await harness.connect();
    first.send(register({ node_id: 'node-a' }));
    await until(() => turns.length === 1);
    const second = await harness.connect();
    second.send(register({ node_id: 'node-a' }));
    await until(() => turns.length === 2);
    turns[1]?.();
    await second.message(0);
    turns[0]?.();
    expect(await first.closed).toEqual({ code: 4000, reason: 'replaced' });
    expect(harness.sockets.send('node-a', { type: 'node_control', command: 'reload_config' })).toBe(true);
    expect((await second.message(1)).type).toBe('node_control');
  });

  it('a conflicting id is replaced by a new one for the connection', async () => {
    harness = await startHarness();
    harness.registry.taken.add('node-a');
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    expect(await client.message(0)).toMatchObject({ node_id: 'node-fresh-1', message: 'renamed' });
    client.send(heartbeat('node-a'));
    expect(await client.message(1)).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    client.send(heartbeat('node-fresh-1'));
    await until(() => harness.registry.beats.length === 1);
    expect(harness.sockets.isConnected('node-fresh-1')).toBe(true);
    expect(harness.sockets.isConnected('node-a')).toBe(false);
  });

  it('a refused node gets the reason and a closed socket', async () => {
    harness = await startHarness();
    harness.registry.refusal = { kind: 'refused', code: 'INVALID_CAPABILITY_SCHEMA', message: 'schema 9' };
    const client = await harness.connect();
    client.send(register());
    expect(await client.message(0)).toMatchObject({ type: 'error', code: 'INVALID_CAPABILITY_SCHEMA' });
    expect(await client.closed).toEqual({ code: 1008, reason: 'refused' });
    expect(harness.registry.left).toEqual([]);
  });

  it('a node may retry when Redis is down', async () => {
    harness = await startHarness();
    harness.registry.during = () => {
      throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'Redis is down');
    };
    const client = await harness.connect();
    client.send(register());
    expect(await client.message(0)).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect((await client.closed).code).toBe(1013);
  });

  it('a node may retry after a transient refusal', async () => {
    harness = await startHarness();
    harness.registry.refusal = { kind: 'refused', code: 'RATE_LIMITED', message: 'too many nodes' };
    const client = await harness.connect();
    client.send(register());
    expect(await client.closed).toEqual({ code: 1013, reason: 'unavailable' });
  });

  it('a node that disconnects while registering is unregistered', async () => {
    harness = await startHarness();
    let finishRegistration = () => {};
    harness.registry.during = () =>
      new Promise((resolve) => {
        finishRegistration = resolve;
      });
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await until(() => harness.registry.registrations.length === 1);
    client.ws.terminate();
    await until(() => harness.gate.open === 0);
    finishRegistration();
    await until(() => harness.registry.left.length === 1);
    expect(harness.registry.left).toEqual([{ nodeId: 'node-a', generation: 1 }]);
    expect(harness.sockets.isConnected('node-a')).toBe(false);
    await until(() => harness.server.count() === 0);
    expect(harness.registry.left).toHaveLength(1);
  });

  it('a node may register again on the same socket', async () => {
    harness = await startHarness();
    const client = await registered('node-a');
    client.send(register({ max_concurrent_jobs: 8 }));
    expect(await client.message(1)).toMatchObject({ node_id: 'node-a', generation: 2 });
    client.send(register({ node_id: 'node-b' }));
    expect(await client.message(2)).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    client.ws.close();
    await until(() => harness.registry.left.length === 1);
    expect(harness.registry.left).toEqual([{ nodeId: 'node-a', generation: 2 }]);
  });
});

describe('token pinned to node ids', () => {
  it('a pinned token is its node, named or not', async () => {
    harness = await startHarness();
    const named = await harness.connect('/ws/node?token=pinned');
    named.send(register({ node_id: 'node-pinned' }));
    expect(await named.message(0)).toMatchObject({ node_id: 'node-pinned' });
    const unnamed = await harness.connect('/ws/node?token=pinned');
    unnamed.send(register());
    expect(await unnamed.message(0)).toMatchObject({ node_id: 'node-pinned' });
  });

  it('a pinned token is refused for another node', async () => {
    harness = await startHarness();
    const client = await harness.connect('/ws/node?token=pinned');
    client.send(register({ node_id: 'node-other' }));
    expect(await client.message(0)).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    expect((await client.closed).code).toBe(1008);
    expect(harness.registry.registrations).toEqual([]);
  });

  it('a pinned token does not accept a new id in a conflict', async () => {
    harness = await startHarness();
    harness.registry.taken.add('node-pinned');
    const client = await harness.connect('/ws/node?token=pinned');
    client.send(register({ node_id: 'node-pinned' }));
    expect(await client.message(0)).toMatchObject({ type: 'error', code: 'NODE_ID_CONFLICT' });
    expect((await client.closed).code).toBe(1008);
    expect(client.received).toHaveLength(1);
  });
});

describe('drain of node sockets', () => {
  it('nodes that support drain are ordered to reconnect, legacy ones are not', async () => {
    harness = await startHarness();
    const modern = await registered('node-modern', { supports: ['job_ack', 'drain'] });
    const legacy = await registered('node-legacy');
    expect(harness.sockets.drain('restarting')).toBe(1);
    expect(await modern.message(1)).toEqual({
      type: 'node_control',
      command: 'reconnect',
      reason: 'restarting',
    });
    legacy.send(register());
    expect(await legacy.message(1)).toMatchObject({ type: 'node_register_ack' });
  });
});
