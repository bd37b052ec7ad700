/** TLS: closing a connection never ends the process. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { closeRedis, connectRedis } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { freePort } from '../../../e2e/redis/free-port.ts';
import { asArguments, certify, tlsFlags } from '../../../support/certify.ts';
import { settingsFor, startRedis } from '../../../support/redis-servers.ts';

it('a connection closed during a failing handshake emits no error', async () => {
  const port = await freePort();
  const redis = await startRedis(asArguments(tlsFlags(port, await certify())));
  onTestFinished(() => redis.stop());
  const unhandled: unknown[] = [];
  const note = (fault: unknown) => unhandled.push(fault);
  process.on('uncaughtException', note);
  onTestFinished(() => void process.off('uncaughtException', note));
  // One of these delays hits the handshake.
  for (let round = 0; round < 150; round += 1) {
    const connection = connectRedis(settingsFor({ url: `rediss://127.0.0.1:${port}` }), { name: 'test' });
    await pause((round % 15) / 2);
    closeRedis(connection);
  }
  await pause(100);
  expect(unhandled).toEqual([]);
});
