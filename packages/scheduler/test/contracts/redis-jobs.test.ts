/** The job adapters obey their contracts on one Redis and on a Cluster. */
import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys, openInstance, realTime } from '../support/redis-jobs.ts';
import { startCluster, startRedis } from '../support/redis-servers.ts';
import { jobEventsContract } from './job-events.ts';
import { jobEventsAcrossContract } from './job-events-across.ts';
import { jobStoreContract } from './job-store.ts';

const START_MS = 60_000;

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('on %s', (where, startServers) => {
  let redis: Connected;

  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);

  afterAll(() => redis.close());

  jobStoreContract(where, async (limits) => {
    const { store, close } = openInstance(redis, freshKeys(), 'instance-a', limits);
    return { ...realTime, store, close };
  });

  jobEventsContract(where, async ({ maxListeners }) => {
    const { events, close } = openInstance(redis, freshKeys(), 'instance-a', {}, maxListeners);
    return { ...realTime, events, close };
  });

  jobEventsAcrossContract(where, async () => {
    const [keys, eventsClock] = [freshKeys(), createManualClock()];
    const [here, there] = [
      openInstance(redis, keys, 'instance-a', { eventsClock }),
      openInstance(redis.other, keys, 'instance-b', { eventsClock }),
    ];
    return {
      ...realTime,
      clock,
      here,
      there,
      close: async () => void (await Promise.all([here.close(), there.close()])),
    };
  });
});
