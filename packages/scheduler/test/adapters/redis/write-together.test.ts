/** Commands of one turn of the event loop leave in one write, and each gets its own answer. */
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis } from '../../../src/adapters/redis/redis-connection.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startRedis } from '../../support/redis-servers.ts';

it('sends what was asked at once together', async () => {
  const reads: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      reads.push(data.toString());
      // As many answers as there were commands: each begins with its number of words.
      for (const _ of data.toString().match(/\*\d+\r\n/g) ?? []) socket.write('+OK\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = connectRedis(settingsFor({ url: `redis://127.0.0.1:${port}` }), { name: 'test' });
  onTestFinished(() => {
    connection.disconnect();
    server.close();
  });
  await eventually(() => connection.status === 'ready');
  reads.length = 0;
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => connection.set(key, '1')));
  expect(reads.filter((text) => text.includes('set'))).toHaveLength(1);
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
