/** Slots of jobs that are fetched from a mailbox: made to last by the store where a script can do that at no cost, and nowhere else. */
import { expect, it } from 'vitest';
import { linkSettings } from '../../src/app/settings/settings-from-config.ts';
import { configOf } from './loaded.ts';

it('last from being fetched as long as a job may run, in a store that is shared', () => {
  expect(linkSettings(configOf(''), true).slots).toEqual({ fetchedMs: 65_000, unacknowledgedMs: 5_000 });
  expect(linkSettings(configOf(''), false).slots).toBeUndefined();
});

it('are left to drivers where a replica must have what is written: a fetch that waits for it in vain would lose what it took', () => {
  const replica = configOf('[scheduler.phase2]\ndurability = "replica"\n');
  expect(linkSettings(replica, true).slots).toBeUndefined();
});
