/** Commands of one turn of the event loop are sent in one write, and each gets its own answer. */
import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectRedis } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { eventually } from '../../../support/eventually.ts';
import { startRedis } from '../../../support/redis-servers.ts';

it('sends the commands of one turn together at its end', async () => {
  const redis = await startRedis();
  const connection = connectRedis(redis.settings, { name: 'test' });
  onTestFinished(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await eventually(() => connection.status === 'ready');
  const { stream } = connection as unknown as { stream: Socket };
  const sofar = stream.bytesWritten;
  const writes = vi.spyOn(stream, '_write');
  const answers = ['a', 'b', 'c'].map((key) => connection.set(key, '1'));
  // The network may join single writes as well, but it cannot delay them here.
  expect(stream.bytesWritten).toBe(sofar);
  await Promise.all(answers);
  expect(writes).toHaveBeenCalledTimes(1);
});

it('sends the commands of the last turn before a connection ends', async () => {
  const redis = await startRedis();
  const [connection, other] = ['test', 'other'].map((name) => connectRedis(redis.settings, { name }));
  onTestFinished(async () => {
    other?.disconnect();
    await redis.stop();
  });
  await eventually(() => connection?.status === 'ready' && other?.status === 'ready');
  const answer = connection?.set('last', '1').catch(() => 'cut off');
  connection?.disconnect();
  await answer;
  await eventually(async () => (await other?.get('last')) === '1');
});

it('gives each command its own answer', async () => {
  const redis = await startRedis();
  const connection = connectRedis(redis.settings, { name: 'test' });
  onTestFinished(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await eventually(() => connection.status === 'ready');
  const numbers = Array.from({ length: 200 }, (_, number) => String(number));
  expect(await Promise.all(numbers.map((number) => connection.echo(number)))).toEqual(numbers);
});
