/** Presence on a store with repeated outages: dead instances are still found, and no living one is declared dead. */
import { describe, expect, it } from 'vitest';
import { createMissedTime } from '../../../src/cluster/membership/missed-time.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

const LIVES = 2 * SETTINGS.ttlMs;
/** The store answers, then it is away, in turns. It never answers for two TTLs in a row. */
const [WELL_MS, AWAY_MS] = [5_000, 2_500];

async function startTwo() {
  const rig = startPresences();
  const [a, b] = [rig.join('a'), rig.join('b')];
  for (const { presence } of [a, b]) await presence.start();
  await rig.clock.advance(10_000);
  return { ...rig, a, b };
}

describe('presence on a store that is away every few seconds', () => {
  it('declares an instance dead that was missing for two TTLs in total', async () => {
    const { clock, a, b } = await startTwo();
    b.connection.isCut = true;
    for (let rounds = 0; rounds < 4; rounds++) {
      a.connection.isCut = true;
      await clock.advance(AWAY_MS);
      a.connection.isCut = false;
      await clock.advance(WELL_MS);
    }
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('declares no instance dead that the same outages cut off', async () => {
    const { clock, a, b } = await startTwo();
    for (let rounds = 0; rounds < 10; rounds++) {
      for (const { connection } of [a, b]) connection.isCut = true;
      await clock.advance(SETTINGS.ttlMs + AWAY_MS);
      for (const { connection } of [a, b]) connection.isCut = false;
      await clock.advance(WELL_MS);
    }
    expect([...a.received.died, ...b.received.died]).toEqual([]);
    expect([a.received.lost, b.received.lost]).toEqual([0, 0]);
  });

  it('declares an instance dead that was missing between failovers', async () => {
    const { clock, a, b } = await startTwo();
    b.connection.isCut = true;
    for (let rounds = 0; rounds < 4; rounds++) {
      a.presence.holdOff();
      await clock.advance(WELL_MS);
    }
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('declares no instance dead while every read is uncertain', async () => {
    const { clock, a, b, store } = await startTwo();
    const { all } = store();
    b.connection.isCut = true;
    store().all = () => {
      a.presence.holdOff();
      return all();
    };
    await clock.advance(10 * LIVES);
    expect(a.received.died).toEqual([]);
  });
});

describe('the missed time of an instance', () => {
  it('adds up between reads, without uncertain intervals', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 1_500);
    missedTime.markUncertain();
    missedTime.missed(['b'], 2_500);
    missedTime.missed(['b'], 3_000);
    expect(missedTime.lengthMs('b')).toBe(2_000);
  });

  it('starts again from zero when the instance is seen', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 1_000);
    missedTime.missed([], 1_500);
    missedTime.missed(['b'], 2_000);
    expect(missedTime.lengthMs('b')).toBe(0);
    missedTime.missed(['b'], 3_000);
    missedTime.markUncertain();
    missedTime.seen(new Map([['b', {}]]));
    expect(missedTime.lengthMs('b')).toBe(0);
  });

  it('does not count the time in which this process was frozen', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 60_000);
    expect(missedTime.lengthMs('b')).toBe(2_000);
  });
});
