/** The index of an instance's jobs: beginnings at once, ends along with them or later, nothing lost while Redis is away. */
import { describe, expect, it } from 'vitest';
import type { IndexChanges } from '../../../src/adapters/redis/job-store/index-jobs.ts';
import { createJobIndex } from '../../../src/adapters/redis/job-store/job-index.ts';
import { times } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function start() {
  const clock = createManualClock();
  const written: { begun: string[]; ended: string[]; dropped: string[] }[] = [];
  const redis = { isAway: false };
  const index = createJobIndex({
    clock,
    async write({ begun, ended, dropped }: IndexChanges) {
      if (redis.isAway) throw new Error('away');
      written.push({ begun: [...begun.keys()], ended: [...ended.keys()], dropped: [...dropped] });
    },
  });
  return { clock, index, written, redis };
}

describe('a job index', () => {
  it('writes a beginning at once, and what ended before along with it', async () => {
    const { clock, index, written } = start();
    index.end('old', 1);
    index.drop('none');
    await index.begin('new', 2);
    await clock.advance(1_000);
    expect(written).toEqual([{ begun: ['new'], ended: ['old'], dropped: ['none'] }]);
  });

  it('writes ends by themselves when nothing begins for a while', async () => {
    const { clock, index, written } = start();
    for (const jobId of ['a', 'b', 'a']) index.end(jobId, 1);
    await clock.advance(50);
    expect(written).toEqual([{ begun: [], ended: ['a', 'b'], dropped: [] }]);
  });

  it('keeps what Redis did not take for the next time, and says so only to who begins a job', async () => {
    const { clock, index, written, redis } = start();
    redis.isAway = true;
    index.end('a', 1);
    index.drop('b');
    await clock.advance(500);
    await expect(index.begin('c', 2)).rejects.toThrow('away');
    redis.isAway = false;
    await clock.advance(50);
    expect(written).toEqual([{ begun: [], ended: ['a'], dropped: ['b'] }]);
  });

  it('never writes many at once, and writes all before it closes', async () => {
    const { index, written, redis } = start();
    redis.isAway = true;
    for (const jobId of times(1_000, (at) => `job-${at}`)) index.end(jobId, 1);
    await Promise.resolve();
    redis.isAway = false;
    await index.close();
    expect(Math.max(...written.map(({ ended }) => ended.length))).toBeLessThanOrEqual(128);
    expect(new Set(written.flatMap(({ ended }) => ended)).size).toBe(1_000);
  });

  it('does not drop a job that begins after all', async () => {
    const { index, written } = start();
    index.drop('a');
    await index.begin('a', 1);
    await index.close();
    expect(written).toEqual([{ begun: ['a'], ended: [], dropped: [] }]);
  });
});
