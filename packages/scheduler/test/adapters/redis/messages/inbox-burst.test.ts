/** More messages at once than an inbox reader may handle at a time. */
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openBlockingConnection } from '../../../../src/adapters/redis/connection/blocking-connection.ts';
import { connectRedis, whenReady } from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createInbox } from '../../../../src/adapters/redis/inbox.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import { inboxReaderSettings, inboxSettings } from '../../../../src/app/settings/shared-settings.ts';
import { createInboxReader } from '../../../../src/cluster/messaging/inbox-reader.ts';
import { loadConfig } from '../../../../src/config/load-config.ts';
import { eventually } from '../../../support/eventually.ts';
import { settingsFor, startRedis } from '../../../support/redis-servers.ts';

const HOST = '127.0.0.1';
const START_MS = 60_000;
/** Three times as many as may be under way. */
const MESSAGES = 3_072;
const TOGETHER = 64;

/** A proxy that can hold back the server's answers, like a frozen process. */
async function startWire(port: number) {
  const held = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: HOST });
    held.add(far);
    near.pipe(far).pipe(near);
    for (const each of [near, far]) each.on('error', () => each.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  onTestFinished(() => {
    for (const socket of held) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      for (const socket of held) socket.pause();
    },
    letGo() {
      for (const socket of held) socket.resume();
    },
  };
}

it('a burst of messages is handled without a second delivery', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const loaded = loadConfig({});
  if (loaded.kind !== 'ok') throw new Error('the defaults do not load');
  const connection = connectRedis(redis.settings, { name: 'sender' });
  const wire = await startWire(redis.servers[0]?.port ?? 0);
  const blocking = openBlockingConnection(settingsFor({ url: `redis://${HOST}:${wire.port}` }), {
    name: 'reader',
    longestWaitMs: 1_000,
  });
  onTestFinished(() => {
    connection.disconnect();
    blocking.close();
  });
  await Promise.all([connection, blocking.current()].map((each) => whenReady(each, START_MS)));
  const inbox = createInbox({
    connection,
    blocking: blocking.current,
    keys: createKeys(`test-${randomUUID()}`),
    ...inboxSettings(loaded.config),
  });
  await inbox.open('me');
  let [handled, openedBefore] = [0, 0];
  const reader = createInboxReader({
    instanceId: 'me',
    inbox,
    clock: systemClock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    meter: { count() {}, gauge() {}, observe() {} },
    settings: inboxReaderSettings(loaded.config),
    laneOf: (body) => body,
    async handle(_, wasOpened) {
      if (wasOpened) openedBefore += 1;
      await sleep(5);
      handled += 1;
    },
  });
  reader.start();
  onTestFinished(() => reader.stop());
  // The reader is connected once it has handled one.
  await inbox.send('me', 'first');
  await eventually(() => handled === 1);
  wire.hold();
  for (let at = 0; at < MESSAGES; at += TOGETHER)
    await Promise.all(Array.from({ length: TOGETHER }, (_, one) => inbox.send('me', `message ${at + one}`)));
  wire.letGo();
  await eventually(() => handled === MESSAGES + 1, { withinMs: 60_000 });
  expect(openedBefore).toBe(0);
});
