/** The round of an instance: one command for what it writes by the clock, and for what waited to go along. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisConnection } from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createInbox } from '../../../src/adapters/redis/inbox.ts';
import { createInstanceFigures } from '../../../src/adapters/redis/instance-figures.ts';
import { createInstanceRounds, type RoundParts } from '../../../src/adapters/redis/instance-rounds.ts';
import { createIndexJobs } from '../../../src/adapters/redis/job-store/index-jobs.ts';
import type { EndedJobs } from '../../../src/adapters/shared-jobs/job-scripts.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import type { HandledMessages } from '../../../src/ports/inbox.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys } from '../../support/redis-jobs.ts';
import {
  canTell,
  startCluster,
  startRedis,
  startRedisWithoutShardedChannels,
} from '../../support/redis-servers.ts';

const GROUP = 'scheduler';
const FIGURES = { nodes: 1, sessions: 2, jobs: 3 };
const LIFE_MS = 60_000;
const LIMITS = { liveMarginMs: 10_000, retentionMs: 20_000, maxRetained: 3 };
const AT_ONCE = { max: 100, waitMs: 0 };
const START_MS = 60_000;
const fromNow = (jobs: object): Map<string, number> =>
  new Map(Object.entries(jobs).map(([jobId, inMs]) => [jobId, Date.now() + inMs]));

function open({ connection, ear }: Pick<Connected, 'connection' | 'ear'>) {
  const keys = freshKeys();
  const clock = systemClock;
  const rounds = createInstanceRounds({ connection, keys, clock, group: GROUP });
  const limits = { group: GROUP, maxMessages: 100, maxDeliveries: 3, maxDead: 10 };
  const inbox = createInbox({ connection, ear, blocking: () => connection, keys, clock, rounds, ...limits });
  const heard: string[] = [];
  const settling = (what: string) => ({
    settle: (fault?: unknown) => void heard.push(fault === undefined ? what : `${what} in vain`),
  });
  return {
    keys,
    rounds,
    inbox,
    heard,
    figures: createInstanceFigures({ connection, keys, rounds }),
    messages: (messageIds: readonly string[]) => (): HandledMessages => ({
      messageIds,
      ...settling('messages'),
    }),
    jobs: (ended: object, dropped: readonly string[] = []) => ({
      limits: LIMITS,
      take: (): EndedJobs => ({ ended: fromNow(ended), dropped: new Set(dropped), ...settling('jobs') }),
    }),
    write: createIndexJobs(connection, keys, 'me', LIMITS),
    indexed: async () => [
      await connection.zrange(keys.instanceJobs('me'), '0', '-1'),
      await connection.zrange(keys.instanceSettledJobs('me'), '0', '-1'),
    ],
  };
}

describe.each([
  ['one Redis', startRedis],
  ['one Redis without sharded channels', startRedisWithoutShardedChannels],
  ['a Cluster', startCluster],
])('a round of an instance, on %s', (_, startServers) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  async function messagesOf({ inbox }: ReturnType<typeof open>, to: string, ...bodies: string[]) {
    await inbox.open(to);
    for (const body of bodies) await inbox.send(to, body);
    return (await inbox.take(to, AT_ONCE)).map(({ messageId }) => messageId);
  }

  it('writes its figures, confirms the messages it handled, and notes the jobs that ended', async () => {
    const world = open(redis);
    const { rounds, inbox, figures, heard, messages, jobs, write, indexed } = world;
    const [first = '', second = ''] = await messagesOf(world, 'me', 'one', 'two', 'three');
    const before = {
      begun: fromNow({ a: 1, b: 2, c: 3 }),
      ended: fromNow({ d: 4 }),
      dropped: new Set<string>(),
    };
    await write(before, Date.now());
    rounds.join('me', { messages: messages([first, second]) });
    rounds.join('me', { jobs: jobs({ a: 1 }, ['c', 'd']) });
    await figures.write('me', FIGURES, LIFE_MS);
    expect(await figures.read('me')).toEqual(FIGURES);
    expect(await inbox.size('me')).toEqual({ messages: 1, handedOut: 1, dead: 0 });
    expect(await indexed()).toEqual([['b'], ['a']]);
    expect(heard).toEqual(['messages', 'jobs']);
    // Nothing is lost by saying it twice.
    await figures.write('me', FIGURES, LIFE_MS);
    expect(await inbox.size('me')).toEqual({ messages: 1, handedOut: 1, dead: 0 });
    expect(await indexed()).toEqual([['b'], ['a']]);
  });

  it('touches nothing of another instance', async () => {
    const world = open(redis);
    const { rounds, inbox, figures, heard, messages, jobs } = world;
    const mine = await messagesOf(world, 'me', 'mine');
    const theirs = await messagesOf(world, 'other', 'theirs');
    // Their ids are of the same kind, and may even be the same.
    rounds.join('me', { messages: messages([...mine, ...theirs]), jobs: jobs({ a: 1 }) });
    await figures.write('other', FIGURES, LIFE_MS);
    expect([heard, (await inbox.size('me')).messages]).toEqual([[], 1]);
    await figures.write('me', FIGURES, LIFE_MS);
    expect((await inbox.size('me')).messages).toBe(0);
    expect(await inbox.size('other')).toEqual({ messages: 1, handedOut: 1, dead: 0 });
  });

  it('is made where there is no inbox, and where nothing waits', async () => {
    const { rounds, figures, heard, messages } = open(redis);
    rounds.join('me', { messages: messages(['1-1']) });
    await figures.write('me', FIGURES, LIFE_MS);
    rounds.join('me', { messages: () => undefined });
    await figures.write('me', FIGURES, LIFE_MS);
    expect([await figures.read('me'), heard]).toEqual([FIGURES, ['messages']]);
  });

  it('I11 bounded: its index remembers no more jobs than it may, and for no longer', async () => {
    const { rounds, figures, jobs, indexed, keys } = open(redis);
    rounds.join('me', { jobs: jobs({ forgotten: -30_001, a: 1, b: 2, c: 3, d: 4 }) });
    await figures.write('me', FIGURES, LIFE_MS);
    expect(await indexed()).toEqual([[], ['b', 'c', 'd']]);
    const lifeMs = await redis.connection.pttl(keys.instanceSettledJobs('me'));
    expect(lifeMs).toBeGreaterThan(25_000);
    expect(lifeMs).toBeLessThanOrEqual(30_000);
  });

  it('says something to its own ear, where there can be one, and nothing once that listens no more', async () => {
    const { inbox, figures, keys } = open(redis);
    const { connection, ear } = redis.other;
    const channel = keys.instanceMessages('me');
    const spoken: string[] = [];
    const note = (on: string, text: string): void => void (on === channel && spoken.push(text));
    for (const event of ['smessage', 'message']) ear.on(event, note);
    const isSharded = await ear.ssubscribe(channel).then(
      () => true,
      () => false,
    );
    if (!isSharded) await ear.subscribe(channel);
    await inbox.open('me');
    const stop = await inbox.listen('me', () => undefined);
    await figures.write('me', FIGURES, LIFE_MS);
    await stop();
    await figures.write('me', FIGURES, LIFE_MS);
    await (isSharded ? connection.spublish(channel, 'last') : connection.publish(channel, 'last'));
    await eventually(() => spoken.at(-1) === 'last');
    expect(spoken).toEqual([...((await canTell(redis.servers)) ? [''] : []), 'last']);
    for (const event of ['smessage', 'message']) ear.off(event, note);
  });
});

describe('a round that fails', () => {
  it('says so to whoever gave it something to take along, and claims nothing of the ear', async () => {
    const connection = { evalsha: async () => Promise.reject(new Error('away')) };
    const { rounds, figures, heard, messages, jobs } = open({
      connection: connection as unknown as RedisConnection,
      ear: { on: () => undefined } as unknown as RedisConnection,
    });
    const word = { way: 'sharded', said: (isSaid: boolean) => void heard.push(`said ${isSaid}`) } as const;
    rounds.join('me', { messages: messages(['1-1']), jobs: jobs({ a: 1 }), ear: () => word });
    await expect(figures.write('me', FIGURES, LIFE_MS)).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
    });
    expect(heard).toEqual(['said false', 'messages in vain', 'jobs in vain']);
  });
});

describe('an ear', () => {
  it('is spoken to by itself as soon as rounds do not do it, and not before', async () => {
    const redis = await connectTo(startRedis());
    const keys = freshKeys();
    const clock = createManualClock();
    const joined: RoundParts[] = [];
    const inbox = createInbox({
      ...redis,
      blocking: () => redis.connection,
      keys,
      clock,
      rounds: { join: (_, parts) => void joined.push(parts) },
      group: GROUP,
      maxMessages: 100,
      maxDeliveries: 3,
      maxDead: 10,
    });
    const channel = keys.instanceMessages('me');
    const spoken: string[] = [];
    redis.ear.on('smessage', (on: string, text: string) => void (on === channel && spoken.push(text)));
    await inbox.open('me');
    const stop = await inbox.listen('me', () => undefined);
    for (const said of ['1-1 first', '1-2 second']) {
      await clock.advance(2_000);
      const word = joined[0]?.ear?.();
      await redis.connection.spublish(channel, said);
      await eventually(() => spoken.at(-1) === said);
      word?.said(true);
    }
    await clock.advance(2_000);
    joined[0]?.ear?.()?.said(false);
    expect(spoken).toHaveLength(2);
    await clock.advance(1_000);
    await eventually(() => spoken.length === 3);
    expect(spoken).toEqual(['1-1 first', '1-2 second', '']);
    await stop();
    expect(clock.pending()).toBe(0);
    await redis.close();
  });
});

describe('a server that is full', () => {
  it('lets an instance confirm what it handled, and so make room', async () => {
    const redis = await connectTo(startRedis());
    const { rounds, inbox, figures, heard, messages, jobs } = open(redis);
    await inbox.open('me');
    await inbox.send('me', 'handled');
    const ids = (await inbox.take('me', AT_ONCE)).map(({ messageId }) => messageId);
    rounds.join('me', { messages: messages(ids), jobs: jobs({ a: 1 }) });
    await redis.connection.config('SET', 'maxmemory', '1');
    await figures.write('me', FIGURES, LIFE_MS);
    await redis.connection.config('SET', 'maxmemory', '0');
    expect([heard, (await inbox.size('me')).messages]).toEqual([['messages', 'jobs'], 0]);
    await redis.close();
  });
});
