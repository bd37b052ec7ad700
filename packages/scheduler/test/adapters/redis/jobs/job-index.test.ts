/** The index of an instance's jobs: beginnings are written at once, ends with them or later; an outage loses neither. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIndexJobs } from '../../../../src/adapters/redis/job-store/index-jobs.ts';
import { createJobIndex } from '../../../../src/adapters/shared-jobs/job-index.ts';
import type { IndexChanges } from '../../../../src/adapters/shared-jobs/job-scripts.ts';
import { times } from '../../../contracts/harness.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys } from '../../../support/redis-jobs.ts';
import { startRedis } from '../../../support/redis-servers.ts';

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

const LATER_MS = 1_000;

describe('a job index', () => {
  it('writes a beginning at once, together with ends that wait', async () => {
    const { clock, index, written } = start();
    index.end('old', 1);
    index.drop('none');
    await index.begin('new', 2);
    await clock.advance(LATER_MS);
    expect(written).toEqual([{ begun: ['new'], ended: ['old'], dropped: ['none'] }]);
  });

  it('writes ends by a timer when no job begins', async () => {
    const { clock, index, written } = start();
    for (const jobId of ['a', 'b', 'a']) index.end(jobId, 1);
    await clock.advance(LATER_MS);
    expect(written).toEqual([{ begun: [], ended: ['a', 'b'], dropped: [] }]);
  });

  it('keeps ends of a failed write, except of jobs that began since', async () => {
    const { clock, index, written, redis } = start();
    for (const jobId of ['a', 'b']) index.end(jobId, 1);
    redis.isAway = true;
    await clock.advance(LATER_MS);
    redis.isAway = false;
    await index.begin('b', 2);
    expect(written).toEqual([{ begun: ['b'], ended: ['a'], dropped: [] }]);
  });

  it('keeps ends that Redis refused, and fails only the beginning', async () => {
    const { clock, index, written, redis } = start();
    redis.isAway = true;
    index.end('a', 1);
    index.drop('b');
    await clock.advance(500);
    await expect(index.begin('c', 2)).rejects.toThrow('away');
    redis.isAway = false;
    await clock.advance(LATER_MS);
    expect(written).toEqual([{ begun: [], ended: ['a'], dropped: ['b'] }]);
  });

  it('writes the ends that an outage left without pausing', async () => {
    const { clock, index, written, redis } = start();
    redis.isAway = true;
    for (const jobId of times(500, String)) index.end(jobId, 1);
    await clock.advance(LATER_MS / 2);
    redis.isAway = false;
    await clock.advance(LATER_MS);
    expect(written.flatMap(({ ended }) => ended)).toHaveLength(384);
    await clock.advance(LATER_MS);
    expect(new Set(written.flatMap(({ ended }) => ended)).size).toBe(500);
  });

  it('writes at most 128 ends per command, and all before it closes', async () => {
    const { index, written, redis } = start();
    redis.isAway = true;
    for (const jobId of times(1_000, (at) => `job-${at}`)) index.end(jobId, 1);
    await Promise.resolve();
    redis.isAway = false;
    await index.flush();
    expect(Math.max(...written.map(({ ended }) => ended.length))).toBeLessThanOrEqual(128);
    expect(new Set(written.flatMap(({ ended }) => ended)).size).toBe(1_000);
  });

  it('does not drop a job that begins again after a failed drop', async () => {
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

  it('writes beginnings of one turn together, at most 128 per command', async () => {
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
      ttls: async () => [await connection.pttl(driven), await connection.pttl(settled)],
    };
  }

  it('list a job as driven until it ends, then as settled', async () => {
    const { write, jobs } = open();
    await write({ begun: { a: 1_000, b: 2_000, c: 3_000 } });
    expect(await jobs()).toEqual([['a', 'b', 'c'], []]);
    await write({ ended: { a: 1_000, b: 2_000 }, dropped: ['c'] });
    expect(await jobs()).toEqual([[], ['a', 'b']]);
    await write({ dropped: ['a'] });
    expect(await jobs()).toEqual([[], ['b']]);
  });

  it('I11 bounded: keep only the latest settled jobs', async () => {
    const { write, jobs } = open();
    await write({ ended: { a: 1, b: 2, c: 3, d: 4, e: 5 } });
    expect(await jobs()).toEqual([[], ['c', 'd', 'e']]);
  });

  it('drop jobs whose record must have expired', async () => {
    const { write, jobs } = open();
    await write({ begun: { late: -9_000 }, ended: { old: -29_000 } });
    expect(await jobs()).toEqual([['late'], ['old']]);
    await write({ begun: { gone: -10_001 }, ended: { forgotten: -30_001 } });
    expect(await jobs()).toEqual([['late'], ['old']]);
  });

  it('expire no earlier than the records they list', async () => {
    const { write, ttls } = open();
    await write({ begun: { a: 50_000 }, ended: { x: 0 } });
    await write({ begun: { b: 5_000 } });
    const [driven, settled] = (await ttls()) as [number, number];
    expect(driven).toBeGreaterThan(55_000);
    expect(driven).toBeLessThanOrEqual(60_000);
    expect(settled).toBeGreaterThan(25_000);
    expect(settled).toBeLessThanOrEqual(30_000);
  });
});
