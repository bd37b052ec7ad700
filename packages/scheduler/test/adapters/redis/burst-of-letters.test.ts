/** More messages at once than a reader may have under way: none of them is left to come again, told or not. */
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openBlockingConnection } from '../../../src/adapters/redis/connection/blocking-connection.ts';
import { connectRedis, whenReady } from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createInbox } from '../../../src/adapters/redis/inbox.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { inboxReaderSettings, inboxSettings } from '../../../src/app/settings/shared-settings.ts';
import { createInboxReader } from '../../../src/cluster/messaging/inbox-reader.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startRedis } from '../../support/redis-servers.ts';

const HOST = '127.0.0.1';
const START_MS = 60_000;
/** Three times as many as may be under way. */
const LETTERS = 3_072;
const TOGETHER = 64;

/** A wire that can hold up what the server says, as a process that stands still does. */
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

it('a burst of messages is handled as it comes, each for the first time', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const loaded = loadConfig({});
  if (loaded.kind !== 'ok') throw new Error('the defaults do not load');
  const connection = connectRedis(redis.settings, { name: 'sender' });
  const wire = await startWire(redis.servers[0]?.port ?? 0);
  const ear = connectRedis(settingsFor({ url: `redis://${HOST}:${wire.port}` }), {
    name: 'ear',
    isListening: true,
  });
  const blocking = openBlockingConnection(redis.settings, { name: 'reader', longestWaitMs: 1_000 });
  onTestFinished(() => {
    for (const each of [connection, ear]) each.disconnect();
    blocking.close();
  });
  await Promise.all([connection, ear, blocking.current()].map((each) => whenReady(each, START_MS)));
  const inbox = createInbox({
    connection,
    ear,
    blocking: blocking.current,
    keys: createKeys(`test-${randomUUID()}`),
    clock: systemClock,
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
  // It listens by the time it has heard one.
  await inbox.send('me', 'first');
  await eventually(() => handled === 1);
  wire.hold();
  for (let at = 0; at < LETTERS; at += TOGETHER)
    await Promise.all(Array.from({ length: TOGETHER }, (_, one) => inbox.send('me', `letter ${at + one}`)));
  wire.letGo();
  await eventually(() => handled === LETTERS + 1);
  expect(openedBefore).toBe(0);
});
