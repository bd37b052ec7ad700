/**
 * Sessions under random histories of several instances. SESSION_SEEDS plays more of them, SESSION_FIRST_SEED others: a failure
 * names its seed and prints what happened.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSessionStore } from '../../../src/adapters/redis/session-store.ts';
import { type Connected, connectTo, freshKeys } from '../../support/redis-jobs.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { type HistoryOptions, playMovingHistory } from '../support/handover-history.ts';

const SEEDS = Number(process.env.SESSION_SEEDS ?? 120);
const FIRST_SEED = Number(process.env.SESSION_FIRST_SEED ?? 1);
const SEEDS_ON_REDIS = 20;
const LIMIT_MS = 300_000;

async function play(count: number, options: () => HistoryOptions): Promise<void> {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + count; seed += 1) {
    const { acts, problems } = await playMovingHistory(seed, options());
    if (problems.length > 0)
      expect.fail(`seed ${seed}:\n${problems.join('\n')}\n\nwhat happened:\n${acts.join('\n')}`);
  }
}

describe('random histories of sessions with handovers', () => {
  it('I5 order: holds while instances die', { timeout: LIMIT_MS }, () =>
    play(SEEDS, () => ({ isRough: false })),
  );

  it('I5 order: holds while the store and jobs fail', { timeout: LIMIT_MS }, () =>
    play(SEEDS, () => ({ isRough: true })),
  );
});

describe('random histories on Redis', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis());
  }, LIMIT_MS);
  afterAll(() => redis.close());

  it.each([false, true])('I5 order: holds on Redis (with faults: %s)', { timeout: LIMIT_MS }, (isRough) =>
    play(SEEDS_ON_REDIS, () => ({
      isRough,
      store: createSessionStore({ connection: redis.connection, keys: freshKeys() }),
    })),
  );
});
