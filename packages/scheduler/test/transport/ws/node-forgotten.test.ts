import { afterEach, describe, expect, it } from 'vitest';
import { type Client, type Harness, startHarness, until } from './harness.ts';
import { heartbeat, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

async function registered(nodeId: string, fields = {}): Promise<Client> {
  const client = await harness.connect();
  client.send(register({ node_id: nodeId, ...fields }));
  await client.message(0);
  return client;
}

describe('a node that was forgotten while connected', () => {
  it('is registered anew by its next heartbeat', async () => {
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

  it('keeps its connection when the store cannot be asked: the heartbeat after tries again', async () => {
    harness = await startHarness();
    const client = await registered('node-a');
    harness.registry.forget('node-a');
    harness.registry.refusal = { kind: 'refused', code: 'SCHEDULER_DEPENDENCY_DOWN', message: 'not now' };
    client.send(heartbeat('node-a'));
    await until(() => harness.registry.registrations.length === 2);
    harness.registry.forget('node-a');
    harness.registry.refusal = undefined;
    client.send(heartbeat('node-a'));
    expect(await client.message(1)).toMatchObject({ type: 'node_register_ack', generation: 3 });
    expect(client.ws.readyState).toBe(client.ws.OPEN);
  });
});
