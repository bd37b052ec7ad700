/** Who drives a job that the store has no trace of, or that is taken over while it is asked. */
import { expect, it } from 'vitest';
import { createFindDriver, type FindDriverDeps } from '../../src/cluster/holder/find-driver.ts';

const asking = (parts: Partial<FindDriverDeps>) =>
  createFindDriver({
    drives: () => false,
    driverOf: async () => undefined,
    driver: () => 'me/1',
    living: async () => new Map(),
    mayBeLost: () => false,
    driverCache: { find: () => undefined },
    ...parts,
  });

it('is nobody yet if its assignment came through here: whoever takes it over tells the store again', async () => {
  expect(await asking({ driverCache: { find: () => 'dead/1' } })('job', 'said')).toBe('nobody');
  expect(await asking({})('job', 'said')).toBe('here');
});

it('is this instance if it took the job over while the store was asked', async () => {
  let isOurs = false;
  const driverOf = async () => {
    isOurs = true;
    return { driver: 'me/1', isSettled: false };
  };
  expect(await asking({ driverOf, drives: () => isOurs })('job', 'said')).toBe('here');
});

it('is asked of the others before the store, if somebody waits and nobody said it before', async () => {
  const asked: string[] = [];
  const parts = {
    askAround: async (jobId: string) => {
      asked.push(jobId);
      return jobId === 'known' ? 'you/1' : undefined;
    },
    driverOf: async () => {
      asked.push('store');
      return { driver: 'you/1', isSettled: true };
    },
  };
  expect(await asking(parts)('known', 'asked')).toEqual({ instanceId: 'you' });
  expect(asked.splice(0)).toEqual(['known']);
  expect(await asking(parts)('unknown', 'asked')).toBe('here');
  expect(asked.splice(0)).toEqual(['unknown', 'store']);
  // Who was said to drive it is dead: whoever takes it over tells the store.
  await asking({ ...parts, driverCache: { find: () => 'dead/1' } })('known', 'asked');
  for (const way of ['said', 'forwarded'] as const) await asking(parts)('known', way);
  expect(asked).toEqual(['store', 'store', 'store']);
});
