/** Messages are told over a connection that may be dead without anybody knowing: whoever listens finds out, and listens anew. */
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createInbox } from '../../../src/adapters/redis/inbox.ts';
import { createInstanceRounds } from '../../../src/adapters/redis/instance-rounds.ts';
import { createKeys, type Keys } from '../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { settingsFor, startRedis, startRedisWithoutShardedChannels } from '../../support/redis-servers.ts';

const HOST = '127.0.0.1';
const START_MS = 60_000;

/** A wire on which, from a moment on, nothing passes over the connections that there are, and nobody is told. */
async function startWire(port: number) {
  const open = new Set<Socket>();
  let lost = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: HOST, noDelay: true });
    const since = lost;
    const pass = (from: Socket, to: Socket): void => {
      open.add(from);
      from.on('data', (piece) => void (since === lost && to.write(piece)));
      from.on('error', () => from.destroy());
      // A connection that is lost ends at the one side, and the other never hears of it.
      from.on('close', () => void (since === lost && to.destroy()));
    };
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    lose() {
      lost += 1;
    },
  };
}

/** An instance that makes rounds says nothing else to itself: its own time stands still here. */
function startRounds(connection: RedisConnection, keys: Keys) {
  const rounds = createInstanceRounds({ connection, keys, clock: systemClock, group: 'scheduler' });
  const making = setInterval(() => {
    rounds.make('me', { text: '0 0 0', lifeMs: 1_000 }).catch(() => undefined);
  }, 500);
  onTestFinished(() => clearInterval(making));
  return { rounds, clock: createManualClock() };
}

it.each([
  ['a sharded channel, by itself', startRedis, () => ({ clock: systemClock })],
  ['a plain channel, by itself', startRedisWithoutShardedChannels, () => ({ clock: systemClock })],
  ['a sharded channel, by its rounds', startRedis, startRounds],
  ['a plain channel, by its rounds', startRedisWithoutShardedChannels, startRounds],
] as const)(
  'messages are heard again soon after the connection that listens was lost without a word: %s',
  async (_, start, checking) => {
    const redis = await start();
    onTestFinished(() => redis.stop());
    const wire = await startWire(redis.servers[0]?.port ?? 0);
    const connection = connectRedis(redis.settings, { name: 'test' });
    const ear: RedisConnection = connectRedis(settingsFor({ url: `redis://${HOST}:${wire.port}` }), {
      name: 'ear',
      isListening: true,
    });
    onTestFinished(() => {
      for (const each of [connection, ear]) each.disconnect();
    });
    await Promise.all([connection, ear].map((each) => whenReady(each, START_MS)));
    const keys = createKeys(`test-${randomUUID()}`);
    const inbox = createInbox({
      connection,
      ear,
      blocking: () => connection,
      keys,
      ...checking(connection, keys),
      group: 'scheduler',
      maxMessages: 100_000,
      maxDeliveries: 3,
      maxDead: 10,
    });
    await inbox.open('me');
    const heard: string[] = [];
    const stop = await inbox.listen('me', (messages) => void heard.push(...messages.map(({ body }) => body)));
    await inbox.send('me', 'before');
    await eventually(() => heard.includes('before'));
    wire.lose();
    let sent = 0;
    await eventually(async () => {
      await inbox.send('me', `after ${sent++}`);
      // Nobody confirms them: were there too many, no more would be told.
      await sleep(100);
      return heard.length > 1;
    });
    await stop();
    await inbox.send('me', 'to be taken');
    const [message] = await inbox.take('me', { max: 10, waitMs: 0 });
    // The server may believe for longer that somebody listens over what was lost: then it is pending, and comes again.
    if (message !== undefined) expect(message.body).toBe('to be taken');
    expect((await inbox.size('me')).messages).toBeGreaterThan(0);
  },
);
