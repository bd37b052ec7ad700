/** The driver of a job without a record, and of one that is taken over during the read. */
import { expect, it } from 'vitest';
import { createFindDriver, type FindDriverDeps } from '../../../src/cluster/holder/find-driver.ts';

const finding = (parts: Partial<FindDriverDeps>) =>
  createFindDriver({
    drives: () => false,
    driverOf: async () => undefined,
    driver: () => 'me/1',
    living: async () => new Map(),
    mayBeLost: () => false,
    replayed: () => undefined,
    driverCache: { find: () => undefined },
    ...parts,
  });

it('a job without a record has no driver if its assignment came through here', async () => {
  expect(await finding({ driverCache: { find: () => 'dead/1' } }).find('job', 'socket')).toBe('none');
  expect(await finding({}).find('job', 'socket')).toBe('here');
});

it('this instance drives a job that it took over during the read', async () => {
  let isOurs = false;
  const driverOf = async () => {
    isOurs = true;
    return { driver: 'me/1', isSettled: false };
  };
  expect(await finding({ driverOf, drives: () => isOurs }).find('job', 'socket')).toBe('here');
});
