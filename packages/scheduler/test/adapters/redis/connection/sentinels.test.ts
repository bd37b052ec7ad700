/** The master is found while one Sentinel answers, although others are frozen or stopped. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  connectRedis,
  type RedisSettings,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { freePort } from '../../../e2e/redis/free-port.ts';
import { startSentinel } from '../../../e2e/redis/start-sentinel.ts';
import { eventually } from '../../../support/eventually.ts';
import { SHORT_TIMEOUTS, settingsFor } from '../../../support/redis-servers.ts';

const START_MS = 60_000;

/** Accepts connections and never answers, like a frozen process. */
async function startSilent(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connect(settings: RedisSettings): Redis {
  const connection = connectRedis({ ...settings, ...SHORT_TIMEOUTS }, { name: 'test' }) as Redis;
  onTestFinished(() => connection.disconnect());
  return connection;
}

describe('the master is found', () => {
  it('although one Sentinel never answers and another is stopped', async () => {
    const { settings } = await startSentinel();
    const gone = `redis://127.0.0.1:${await freePort()}`;
    const sentinelUrls = [await startSilent(), gone, ...settings.sentinelUrls];
    const begunAt = performance.now();
    const connection = connect({ ...settings, sentinelUrls });
    await whenReady(connection, START_MS);
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(SHORT_TIMEOUTS.commandTimeoutMs - 20);
    expect(await connection.set('key', 'value')).toBe('OK');
  });

  it('and the error is reported if no Sentinel answers', async () => {
    const connection = connect(settingsFor({ mode: 'sentinel', sentinelUrls: [await startSilent()] }));
    await expect(whenReady(connection, 5_000)).rejects.toThrow(
      /not reached within 5000 ms: All sentinels are unreachable.*Command timed out/,
    );
  });
});

it('writes continue after a master and its Sentinel freeze together', async () => {
  const { settings, master, sentinels } = await startSentinel({ sentinels: 3 });
  const connection = connect(settings);
  await whenReady(connection, START_MS);
  // The Sentinel that is used next: the first one has named the master.
  sentinels[1]?.signal('SIGSTOP');
  master.signal('SIGSTOP');
  await eventually(() => connection.set('key', 'value').catch(() => undefined));
});
