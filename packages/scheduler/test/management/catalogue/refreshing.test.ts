/** When the hub is asked: rarely while it fails, soon when somebody says that its list has changed. */
import { describe, expect, it } from 'vitest';
import {
  afterIndex,
  afterSuccess,
  NOTHING_KNOWN,
  nextRefreshInMs,
} from '../../../src/management/catalogue/catalogue-state.ts';
import { entry, SETTINGS, startCatalogue } from './catalogue-rig.ts';

const LIST = { services: [entry('asr-1')] };
const AWAY = new Error('away');

describe('the wait for the next refresh', () => {
  const waitAfter = (failCount: number) => nextRefreshInMs({ ...NOTHING_KNOWN, failCount }, SETTINGS) / 1_000;

  it('is the interval after two failures, then doubles up to the limit', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 2_000].map(waitAfter)).toEqual([
      30, 30, 30, 30, 60, 120, 240, 300, 300, 300,
    ]);
  });

  it('is never shorter than the interval', () => {
    const settings = { ...SETTINGS, refreshIntervalMs: 60_000, backoffBaseMs: 1_000 };
    expect(nextRefreshInMs({ ...NOTHING_KNOWN, failCount: 3 }, settings)).toBe(60_000);
  });

  it('is kept by the actor', async () => {
    const { hub, clock } = startCatalogue(AWAY);
    const askedAt: number[] = [];
    const begunAt = clock.now();
    for (let seconds = 0; seconds <= 600; seconds += 1) {
      await clock.advance(seconds === 0 ? 0 : 1_000);
      if (askedAt.length < hub.asked) askedAt.push((clock.now() - begunAt) / 1_000);
    }
    expect(askedAt).toEqual([0, 30, 60, 90, 150, 270, 510]);
  });

  it('is the interval again after a success', async () => {
    const { hub, clock } = startCatalogue(AWAY);
    await clock.advance(150_000);
    expect(hub.asked).toBe(5);
    hub.says = LIST;
    await clock.advance(120_000);
    await clock.advance(30_000);
    expect(hub.asked).toBe(7);
  });
});

it('the index file never replaces an answer of the hub', () => {
  const heard = afterSuccess([], 1);
  expect(afterIndex(heard, [{ serviceId: 'old', name: 'old', latestVersion: '', variants: [] }])).toBe(heard);
});

describe('a notice that the list has changed', () => {
  it('causes one refresh, however often it comes', async () => {
    const { catalogue, hub, clock } = startCatalogue(LIST);
    await clock.advance(10_000);
    for (let times = 0; times < 100; times += 1) catalogue.refreshSoon();
    await clock.advance(999);
    expect(hub.asked).toBe(1);
    await clock.advance(1);
    expect(hub.asked).toBe(2);
    await clock.advance(29_999);
    expect(hub.asked).toBe(2);
    await clock.advance(1);
    expect(hub.asked).toBe(3);
  });

  it('causes at most one refresh in five seconds', async () => {
    const { catalogue, hub, clock } = startCatalogue(LIST);
    for (let seconds = 0; seconds < 20; seconds += 1) {
      await clock.advance(1_000);
      catalogue.refreshSoon();
    }
    expect(hub.asked).toBe(5);
  });

  it('is kept while a refresh is in progress', async () => {
    const { catalogue, hub, clock } = startCatalogue(LIST);
    await clock.advance(29_000);
    let answer: (list: unknown) => void = () => undefined;
    hub.says = new Promise((resolve) => {
      answer = resolve;
    });
    await clock.advance(1_000);
    catalogue.refreshSoon();
    answer(LIST);
    await clock.advance(4_999);
    expect(hub.asked).toBe(2);
    await clock.advance(1);
    expect(hub.asked).toBe(3);
  });

  it('does not shorten the pause after a failure', async () => {
    const { catalogue, hub, clock } = startCatalogue(AWAY);
    await clock.advance(90_000);
    expect(hub.asked).toBe(4);
    catalogue.refreshSoon();
    await clock.advance(59_999);
    expect(hub.asked).toBe(4);
  });
});
