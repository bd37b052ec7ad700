/** What instances remember of one another has limits: the oldest goes first, and whoever asks for it is told nothing. */
import { describe, expect, it } from 'vitest';
import { createDriverCache } from '../../../src/cluster/holder/driver-cache.ts';
import { createDeadHolders } from '../../../src/cluster/nodes/dead-holders.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const MOST_JOBS = 50_000;
const MOST_DEAD = 1_000;

describe('limits of what instances remember', () => {
  it('I11 bounded: of the drivers of jobs, the oldest is forgotten first', () => {
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

  it('I11 bounded: the driver of a job is noted for as long as a job may last, whoever hears its last word', async () => {
    const clock = createManualClock();
    const driverCache = createDriverCache({ clock, keepMs: 90_000 });
    driverCache.note('job-1', 'a/1');
    driverCache.note('job-2', 'a/1');
    await clock.advance(60_000);
    // It was handed out once more.
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

  it('I11 bounded: of the dead, the oldest is forgotten first', () => {
    const dead = createDeadHolders();
    const holder = (number: number) => ({ instanceId: `i-${number}`, incarnation: '1' });
    const isHeld = (number: number) => dead.held({ channel: 'socket', holder: holder(number) });
    for (let number = 0; number < MOST_DEAD; number += 1) dead.note(holder(number));
    expect(isHeld(0)).toBe(true);
    dead.note(holder(MOST_DEAD));
    expect([isHeld(0), isHeld(1), isHeld(MOST_DEAD)]).toEqual([false, true, true]);
  });
});
