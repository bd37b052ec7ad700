/** The index of an instance's jobs: beginnings at once, ends along with them or later, nothing lost while Redis is away. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIndexJobs } from '../../../src/adapters/redis/job-store/index-jobs.ts';
import { createJobIndex } from '../../../src/adapters/shared-jobs/job-index.ts';
import type { IndexChanges } from '../../../src/adapters/shared-jobs/job-scripts.ts';
import { times } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys } from '../../support/redis-jobs.ts';
import { startRedis } from '../../support/redis-servers.ts';

function start() {
  const clock = createManualClock();
  const written: { begun: string[]; ended: string[]; dropped: string[] }[] = [];
  const redis = { isAway: false };
  const index = createJobIndex({
    clock,
    endOfTurn: nextTurn,
    async write({ begun, ended, dropped }: IndexChanges) {
      if (redis.isAway) throw new Error('away');
      written.push({ begun: [...begun.keys()], ended: [...ended.keys()], dropped: [...dropped] });
    },
  });
  return { clock, index, written, redis };
}

const LATER_MS = 10_000;
const AFTER_A_FAULT_MS = 1_000;

describe('a job index', () => {
  it('writes a beginning at once, and what ended before along with it', async () => {
    const { clock, index, written } = start();
    index.end('old', 1);
    index.drop('none');
    await index.begin('new', 2);
    await clock.advance(LATER_MS);
    expect(written).toEqual([{ begun: ['new'], ended: ['old'], dropped: ['none'] }]);
  });

  it('writes ends by themselves when nothing begins for a while', async () => {
    const { clock, index, written } = start();
    for (const jobId of ['a', 'b', 'a']) index.end(jobId, 1);
    await clock.advance(LATER_MS);
    expect(written).toEqual([{ begun: [], ended: ['a', 'b'], dropped: [] }]);
  });

  it('lets ends go along with what else is written, and then writes nothing for them', async () => {
    const { clock, index, written } = start();
    expect(index.goAlong()).toBeUndefined();
    index.end('a', 1);
    index.drop('b');
    const along = index.goAlong();
    expect([along?.ended, along?.dropped]).toEqual([new Map([['a', 1]]), new Set('b')]);
    expect(index.goAlong()).toBeUndefined();
    along?.settle();
    await clock.advance(LATER_MS);
    expect([written, clock.pending()]).toEqual([[], 0]);
  });

  it('takes back what went along in vain, but for what has begun meanwhile', async () => {
    const { clock, index, written } = start();
    for (const jobId of ['a', 'b']) index.end(jobId, 1);
    const along = index.goAlong();
    await index.begin('b', 2);
    along?.settle(new Error('away'));
    await clock.advance(AFTER_A_FAULT_MS);
    expect(written).toEqual([
      { begun: ['b'], ended: [], dropped: [] },
      { begun: [], ended: ['a'], dropped: [] },
    ]);
  });

  it('lets no more go along than fits, and writes the rest when its time has come', async () => {
    const { clock, index, written } = start();
    for (const jobId of times(100, (at) => `ended-${at}`)) index.end(jobId, 1);
    for (const jobId of times(20, (at) => `dropped-${at}`)) index.drop(jobId);
    const along = index.goAlong();
    expect([along?.ended.size, along?.dropped.size]).toEqual([100, 20]);
    for (const jobId of times(27, (at) => `later-${at}`)) index.end(jobId, 1);
    along?.settle();
    await clock.advance(LATER_MS);
    expect(written.map(({ ended }) => ended.length)).toEqual([27]);
  });

  it('keeps what Redis did not take for the next time, and says so only to who begins a job', async () => {
    const { clock, index, written, redis } = start();
    redis.isAway = true;
    index.end('a', 1);
    index.drop('b');
    await clock.advance(500);
    await expect(index.begin('c', 2)).rejects.toThrow('away');
    redis.isAway = false;
    await clock.advance(AFTER_A_FAULT_MS);
    expect(written).toEqual([{ begun: [], ended: ['a'], dropped: ['b'] }]);
  });

  it('goes on writing what an outage has left, and does not wait in between', async () => {
    const { clock, index, written, redis } = start();
    redis.isAway = true;
    for (const jobId of times(500, String)) index.end(jobId, 1);
    await clock.advance(AFTER_A_FAULT_MS / 2);
    redis.isAway = false;
    await clock.advance(AFTER_A_FAULT_MS);
    expect(written.flatMap(({ ended }) => ended)).toHaveLength(384);
    await clock.advance(LATER_MS);
    expect(new Set(written.flatMap(({ ended }) => ended)).size).toBe(500);
  });

  it('never writes many at once, and writes all before it closes', async () => {
    const { index, written, redis } = start();
    redis.isAway = true;
    for (const jobId of times(1_000, (at) => `job-${at}`)) index.end(jobId, 1);
    await Promise.resolve();
    redis.isAway = false;
    await index.flush();
    expect(Math.max(...written.map(({ ended }) => ended.length))).toBeLessThanOrEqual(128);
    expect(new Set(written.flatMap(({ ended }) => ended)).size).toBe(1_000);
  });

  it('does not drop a job that begins after all, also when Redis did not take the drop before', async () => {
    const clock = createManualClock();
    const written: string[] = [];
    let refuse: ((fault: Error) => void) | undefined;
    const index = createJobIndex({
      clock,
      endOfTurn: nextTurn,
      write({ begun, ended, dropped }) {
        written.push(`begun ${[...begun.keys()]} ended ${[...ended.keys()]} dropped ${[...dropped]}`);
        return refuse === undefined
          ? new Promise((_, reject) => {
              refuse = reject;
            })
          : Promise.resolve();
      },
    });
    index.drop('a');
    index.end('b', 1);
    await clock.advance(LATER_MS);
    const beginnings = [index.begin('a', 1), index.begin('b', 1)];
    refuse?.(new Error('away'));
    await Promise.all(beginnings);
    index.drop('c');
    await index.begin('c', 1);
    await clock.advance(LATER_MS);
    expect(written).toEqual([
      'begun  ended b dropped a',
      'begun a,b ended  dropped ',
      'begun c ended  dropped ',
    ]);
  });

  it('writes what begins in one turn together, never many at once, and each hears of its own', async () => {
    const { index, written, redis } = start();
    index.end('old', 1);
    await Promise.all(times(300, (at) => index.begin(`job-${at}`, at)));
    expect(written.map(({ begun }) => begun.length)).toEqual([128, 128, 44]);
    expect(new Set(written.flatMap(({ begun }) => begun)).size).toBe(300);
    expect(written.flatMap(({ ended }) => ended)).toEqual(['old']);
    redis.isAway = true;
    const failing = Promise.allSettled(times(3, (at) => index.begin(`lost-${at}`, at)));
    expect((await failing).map(({ status }) => status)).toEqual(times(3, () => 'rejected'));
    redis.isAway = false;
    await index.begin('next', 1);
    expect(written.at(-1)).toEqual({ begun: ['next'], ended: [], dropped: [] });
  });
});

describe('the indexes in Redis', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis());
  });
  afterAll(() => redis.close());

  const LIMITS = { liveMarginMs: 10_000, retentionMs: 20_000, maxRetained: 3 };

  function open() {
    const keys = freshKeys();
    const [driven, settled] = [keys.instanceJobs('a'), keys.instanceSettledJobs('a')];
    const write = createIndexJobs(redis.connection, keys, 'a', LIMITS);
    const { connection } = redis;
    return {
      /** Deadlines by how long from now. */
      write: (changes: { begun?: object; ended?: object; dropped?: string[] }) => {
        const fromNow = (jobs: object = {}) =>
          new Map(Object.entries(jobs).map(([jobId, inMs]) => [jobId, Date.now() + inMs]));
        return write(
          {
            begun: fromNow(changes.begun),
            ended: fromNow(changes.ended),
            dropped: new Set(changes.dropped),
          },
          Date.now(),
        );
      },
      jobs: async () => [
        await connection.zrange(driven, '0', '-1'),
        await connection.zrange(settled, '0', '-1'),
      ],
      lives: async () => [await connection.pttl(driven), await connection.pttl(settled)],
    };
  }

  it('have a job among the driven ones until it ends, then among the settled, and nowhere once dropped', async () => {
    const { write, jobs } = open();
    await write({ begun: { a: 1_000, b: 2_000, c: 3_000 } });
    expect(await jobs()).toEqual([['a', 'b', 'c'], []]);
    await write({ ended: { a: 1_000, b: 2_000 }, dropped: ['c'] });
    expect(await jobs()).toEqual([[], ['a', 'b']]);
    await write({ dropped: ['a'] });
    expect(await jobs()).toEqual([[], ['b']]);
  });

  it('I11 bounded: remember no more settled jobs than they may, the latest ones', async () => {
    const { write, jobs } = open();
    await write({ ended: { a: 1, b: 2, c: 3, d: 4, e: 5 } });
    expect(await jobs()).toEqual([[], ['c', 'd', 'e']]);
  });

  it('forget what can have no record any more', async () => {
    const { write, jobs } = open();
    await write({ begun: { late: -9_000 }, ended: { old: -29_000 } });
    expect(await jobs()).toEqual([['late'], ['old']]);
    await write({ begun: { gone: -10_001 }, ended: { forgotten: -30_001 } });
    expect(await jobs()).toEqual([['late'], ['old']]);
  });

  it('live as long as any record they name may', async () => {
    const { write, lives } = open();
    await write({ begun: { a: 50_000 }, ended: { x: 0 } });
    await write({ begun: { b: 5_000 } });
    const [driven, settled] = (await lives()) as [number, number];
    expect(driven).toBeGreaterThan(55_000);
    expect(driven).toBeLessThanOrEqual(60_000);
    expect(settled).toBeGreaterThan(25_000);
    expect(settled).toBeLessThanOrEqual(30_000);
  });
});
