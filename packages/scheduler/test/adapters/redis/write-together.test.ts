/** Commands of one turn of the event loop leave in one write, and each gets its own answer. */
import type { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis } from '../../../src/adapters/redis/redis-connection.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';

it('holds what was asked in one turn back until its end, and no longer', async () => {
  const redis = await startRedis();
  const connection = connectRedis(redis.settings, { name: 'test' });
  onTestFinished(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await eventually(() => connection.status === 'ready');
  const { stream } = connection as unknown as { stream: Duplex };
  expect(stream.writableCorked).toBe(0);
  const answers = ['a', 'b', 'c'].map((key) => connection.set(key, '1'));
  // The network may put single writes together as well; that they wait here it cannot.
  expect(stream.writableCorked).toBe(1);
  await Promise.all(answers);
  expect(stream.writableCorked).toBe(0);
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
