import { afterEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/transport/access/gate.ts';
import { openNodeSocket } from '../../../src/transport/ws/node-socket.ts';
import { createNodeSockets } from '../../../src/transport/ws/node-sockets.ts';
import { createFakeJobs, createFakeLog, createFakeRegistry } from './fakes.ts';
import { type Client, type Harness, startHarness, until } from './harness.ts';
import { heartbeat, register } from './messages.ts';
import { createSteppedClock } from './stepped-clock.ts';

let harness: Harness;
afterEach(() => harness.stop());

async function registered(nodeId: string, fields = {}): Promise<Client> {
  const client = await harness.connect();
  client.send(register({ node_id: nodeId, ...fields }));
  await client.message(0);
  return client;
}

describe('connected node that the registry lost', () => {
  it('the next heartbeat registers the node again', async () => {
    harness = await startHarness();
    const client = await registered('node-a', { running_job_ids: ['job-old'] });
    harness.registry.forget('node-a');
    client.send(heartbeat('node-a', { running_job_ids: ['job-now'] }));
    expect(await client.message(1)).toMatchObject({ type: 'node_register_ack', generation: 2 });
    expect(harness.registry.registrations[1]).toMatchObject({ nodeId: 'node-a', runningJobIds: ['job-now'] });
    client.send(heartbeat('node-a'));
    await until(() => harness.registry.beats.length === 2);
    expect(harness.registry.beats[1]).toMatchObject({ generation: 2 });
  });

  it('the node stays connected when Redis is down, and the next heartbeat retries', async () => {
    harness = await startHarness();
    const client = await registered('node-a');
    harness.registry.forget('node-a');
    harness.registry.refusal = {
      kind: 'refused',
      code: 'SCHEDULER_DEPENDENCY_DOWN',
      message: 'Redis is down',
    };
    client.send(heartbeat('node-a'));
    await until(() => harness.registry.registrations.length === 2);
    harness.registry.forget('node-a');
    harness.registry.refusal = undefined;
    client.send(heartbeat('node-a'));
    expect(await client.message(1)).toMatchObject({ type: 'node_register_ack', generation: 3 });
    expect(client.ws.readyState).toBe(client.ws.OPEN);
  });
});

describe('disconnected node that the registry lost', () => {
  async function opened() {
    const registry = createFakeRegistry();
    const clock = createSteppedClock();
    const socket = {
      send: () => true,
      sendError() {},
      reject() {},
      noteInvalid() {},
      unsentBytes: () => 0,
      cut() {},
    };
    const handler = openNodeSocket(
      {
        registry,
        gate: { mayUseNode: () => true },
        sockets: createNodeSockets({ clock }),
        clock,
        registrationDeadlineMs: 1_000,
        meter: { count() {}, gauge() {}, observe() {} },
        jobs: createFakeJobs(),
        log: createFakeLog(),
      },
      socket,
      { credential: 'c' } as Principal,
    );
    await handler.receive(JSON.stringify(register({ node_id: 'node-a' })));
    registry.forget('node-a');
    return { registry, handler };
  }

  it('a queued heartbeat does not register a disconnected node again', async () => {
    const { registry, handler } = await opened();
    handler.left();
    await handler.receive(JSON.stringify(heartbeat('node-a', { running_job_ids: [] })));
    await handler.receive(JSON.stringify(register({ node_id: 'node-a' })));
    expect([registry.registrations.length, registry.beats.length]).toEqual([1, 0]);
  });

  it('a heartbeat in progress does not register a disconnected node again', async () => {
    const { registry, handler } = await opened();
    const beating = handler.receive(JSON.stringify(heartbeat('node-a')));
    handler.left();
    await beating;
    expect([registry.registrations.length, registry.beats.length]).toEqual([1, 1]);
  });
});
