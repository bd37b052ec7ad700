/** An unreadable node_register is refused like any other, but a registered node keeps its connection. */
import { afterEach, expect, it } from 'vitest';
import { type Harness, startHarness, until } from './harness.ts';
import { heartbeat, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

it.each([
  ['lacks a field', { version: undefined }, '/version'],
  ['has a field of the wrong type', { hardware: { cpu_cores: 'four', memory_gb: 8 } }, '/hardware/cpu_cores'],
])('a node_register that %s gets an error and a closed socket', async (_, fields, path) => {
  harness = await startHarness();
  const client = await harness.connect();
  client.send({ ...register({ node_id: 'node-a' }), ...fields });
  expect(await client.closed).toEqual({ code: 1008, reason: 'refused' });
  const details = { path, hint: expect.stringContaining('Correct what the message names') };
  expect(client.received).toMatchObject([{ type: 'error', code: 'INVALID_MESSAGE', details }]);
  expect(harness.registry.registrations).toEqual([]);
});

it('a registered node survives an unreadable second registration', async () => {
  harness = await startHarness();
  const client = await harness.connect();
  client.send(register({ node_id: 'node-a' }));
  client.send({ ...register(), version: undefined });
  expect(await client.message(1)).toMatchObject({ code: 'INVALID_MESSAGE', details: { path: '/version' } });
  client.send(heartbeat('node-a'));
  await until(() => harness.registry.beats.length === 1);
  expect(harness.sockets.isConnected('node-a')).toBe(true);
});
