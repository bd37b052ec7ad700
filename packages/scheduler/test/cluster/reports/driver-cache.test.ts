/** The driver cache forgets the oldest entries, by number and by age. */
import { expect, it } from 'vitest';
import { createDriverCache } from '../../../src/cluster/holder/driver-cache.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const MOST_JOBS = 50_000;

it('I11 bounded: forgets the oldest entry at the limit', () => {
  const driverCache = createDriverCache({ clock: createManualClock(), keepMs: 90_000 });
  for (let job = 0; job < MOST_JOBS; job += 1) driverCache.note(`job-${job}`, 'a/1');
  expect(driverCache.find('job-0')).toBe('a/1');
  driverCache.note('job-more', 'a/1');
  expect([driverCache.find('job-0'), driverCache.find('job-1'), driverCache.find('job-more')]).toEqual([
    undefined,
    'a/1',
    'a/1',
  ]);
});

it('I11 bounded: keeps an entry as long as a job may last', async () => {
  const clock = createManualClock();
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  driverCache.note('job-1', 'a/1');
  driverCache.note('job-2', 'a/1');
  await clock.advance(60_000);
  // The job was handed over once more.
  driverCache.note('job-1', 'b/1');
  await clock.advance(30_000);
  expect([driverCache.size(), driverCache.find('job-1'), driverCache.find('job-2')]).toEqual([
    1,
    'b/1',
    undefined,
  ]);
  await clock.advance(60_000);
  expect(driverCache.size()).toBe(0);
});
