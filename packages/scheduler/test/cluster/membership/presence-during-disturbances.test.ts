/** Presence on a store that is disturbed again and again: the dead are known all the same, and nobody else is taken for dead. */
import { describe, expect, it } from 'vitest';
import { createMissedTime } from '../../../src/cluster/membership/missed-time.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

const LIVES = 2 * SETTINGS.ttlMs;
/** Well, then away, for as long as it lasts: never well for two lives on end. */
const [WELL_MS, AWAY_MS] = [5_000, 2_500];

async function startTwo() {
  const rig = startPresences();
  const [a, b] = [rig.join('a'), rig.join('b')];
  for (const { presence } of [a, b]) await presence.start();
  await rig.clock.advance(10_000);
  return { ...rig, a, b };
}

describe('presence on a store that is away every few seconds', () => {
  it('takes one for dead that was missed for two lives in all', async () => {
    const { clock, a, b } = await startTwo();
    b.way.isCut = true;
    for (let rounds = 0; rounds < 4; rounds++) {
      a.way.isCut = true;
      await clock.advance(AWAY_MS);
      a.way.isCut = false;
      await clock.advance(WELL_MS);
    }
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('takes nobody for dead that is away with it', async () => {
    const { clock, a, b } = await startTwo();
    for (let rounds = 0; rounds < 10; rounds++) {
      for (const { way } of [a, b]) way.isCut = true;
      await clock.advance(SETTINGS.ttlMs + AWAY_MS);
      for (const { way } of [a, b]) way.isCut = false;
      await clock.advance(WELL_MS);
    }
    expect([...a.heard.died, ...b.heard.died]).toEqual([]);
    expect([a.heard.lost, b.heard.lost]).toEqual([0, 0]);
  });

  it('takes one for dead that was missed for two lives between failovers', async () => {
    const { clock, a, b } = await startTwo();
    b.way.isCut = true;
    for (let rounds = 0; rounds < 4; rounds++) {
      a.presence.freeze();
      await clock.advance(WELL_MS);
    }
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('takes nobody for dead while every look is in doubt', async () => {
    const { clock, a, b, store } = await startTwo();
    const { all } = store();
    b.way.isCut = true;
    store().all = () => {
      a.presence.freeze();
      return all();
    };
    await clock.advance(10 * LIVES);
    expect(a.heard.died).toEqual([]);
  });
});

describe('how long somebody was missed', () => {
  it('adds up between looks, and not over what was in doubt', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 1_500);
    missedTime.doubt();
    missedTime.missed(['b'], 2_500);
    missedTime.missed(['b'], 3_000);
    expect(missedTime.lengthMs('b')).toBe(2_000);
  });

  it('begins anew when it was seen', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 1_000);
    missedTime.missed([], 1_500);
    missedTime.missed(['b'], 2_000);
    expect(missedTime.lengthMs('b')).toBe(0);
    missedTime.missed(['b'], 3_000);
    missedTime.doubt();
    missedTime.seen(new Map([['b', {}]]));
    expect(missedTime.lengthMs('b')).toBe(0);
  });

  it('does not count a time in which this process stood still', () => {
    const missedTime = createMissedTime(2_000);
    missedTime.missed(['b'], 0);
    missedTime.missed(['b'], 60_000);
    expect(missedTime.lengthMs('b')).toBe(2_000);
  });
});
