/** Requests for the statistics: answered at once, whatever building does, and seldom the reason for a build. */
import { describe, expect, it } from 'vitest';
import type { StatsPart } from '../../../src/management/stats/stats-part.ts';
import {
  createStatsService,
  type SnapshotSource,
  type StatsSnapshot,
  statsTimes,
} from '../../../src/management/stats/stats-service.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createCountingMeter, NOTHING, printPlainly, SILENT } from './stats-fixture.ts';

type Built = StatsSnapshot | undefined;

const bodyOf = (stats: StatsPart): Buffer => Buffer.from(JSON.stringify(stats));

function startDesk(options: { isStarted?: boolean; look?: () => Promise<Built> } = {}) {
  const clock = createManualClock();
  const meter = createCountingMeter();
  const rig = {
    builds: 0,
    prints: 0,
    /** How builds end; each takes no time unless a test says otherwise. */
    build: async (): Promise<Built> => ({ stats: NOTHING, updatedAt: clock.now() }),
  };
  const source: SnapshotSource = {
    build() {
      rig.builds += 1;
      return rig.build();
    },
    ...(options.look !== undefined && { look: options.look }),
  };
  const print: typeof printPlainly = function* (stats) {
    rig.prints += 1;
    return yield* printPlainly(stats);
  };
  const desk = createStatsService({ source, print, clock, meter, log: SILENT, times: statsTimes(5_000) });
  if (options.isStarted !== false) desk.start();
  return { desk, clock, meter, rig };
}

const never = () => new Promise<never>(() => undefined);
const away = () => Promise.reject(new Error('the store is away'));

describe('a request for the statistics', () => {
  it('gets an error and a retry time while there are none', () => {
    const { desk } = startDesk({ isStarted: false });
    expect(desk.read()).toEqual({ kind: 'not_ready', retryAfterMs: 5_000 });
  });

  it('finds the last snapshot and its age', async () => {
    const { desk, clock } = startDesk();
    await clock.advance(0);
    const updatedAt = clock.now();
    await clock.advance(1_200);
    expect(desk.read()).toEqual({
      kind: 'snapshot',
      body: bodyOf(NOTHING),
      updatedAt,
      ageMs: 1_200,
      isStale: false,
    });
  });

  it('finds a new one every five seconds', async () => {
    const { desk, clock, rig } = startDesk();
    await clock.advance(20_000);
    expect(rig.builds).toBe(5);
    expect(desk.read()).toMatchObject({ ageMs: 0 });
  });

  it('is answered at once while a build never ends', async () => {
    const { desk, clock, rig } = startDesk();
    rig.build = never;
    const cold = startDesk();
    cold.rig.build = never;
    expect(cold.desk.read().kind).toBe('not_ready');
    await clock.advance(5_000);
    expect(desk.read()).toMatchObject({ kind: 'snapshot', isStale: false });
    await clock.advance(5_001);
    expect(desk.read()).toMatchObject({ kind: 'snapshot', ageMs: 10_001, isStale: true });
    // Single flight: the one that hangs is the only one.
    await clock.advance(54_998);
    desk.read();
    expect(rig.builds).toBe(2);
  });

  it('gets a new snapshot a minute after a build that never ends', async () => {
    const { desk, clock, rig } = startDesk();
    await clock.advance(0);
    const { build } = rig;
    let end: (late: Built) => void = () => undefined;
    rig.build = () => new Promise((resolve) => (end = resolve));
    await clock.advance(5_000);
    const late = clock.now();
    rig.build = build;
    await clock.advance(60_000);
    expect([rig.builds, desk.read()]).toMatchObject([3, { kind: 'snapshot', ageMs: 0 }]);
    end({ stats: NOTHING, updatedAt: late });
    await clock.advance(5_000);
    expect([rig.builds, desk.read()]).toMatchObject([4, { ageMs: 0 }]);
  });

  it('is stale above ten seconds, not at ten', async () => {
    const { desk, clock, rig, meter } = startDesk();
    await clock.advance(0);
    rig.build = away;
    await clock.advance(10_000);
    expect(desk.read()).toMatchObject({ isStale: false });
    await clock.advance(1);
    expect(desk.read()).toMatchObject({ isStale: true });
    expect(meter.counted('scheduler_stats_requests_total')).toBe(2);
    expect(meter.counted('scheduler_stats_stale_total')).toBe(1);
  });

  it('keeps the last snapshot when builds fail or have no result', async () => {
    for (const end of [away, async () => undefined]) {
      const { desk, clock, rig } = startDesk();
      await clock.advance(0);
      rig.build = end;
      await clock.advance(60_000);
      expect(desk.read()).toMatchObject({
        kind: 'snapshot',
        body: bodyOf(NOTHING),
        ageMs: 60_000,
        isStale: true,
      });
    }
  });
});

describe('printing', () => {
  it('is printed once per build, however often it is read', async () => {
    const found: StatsSnapshot = { stats: { ...NOTHING }, updatedAt: Number.MAX_SAFE_INTEGER };
    const { desk, clock, rig } = startDesk({ isStarted: false, look: async () => found });
    // The same figures, but not the same catalogue.
    rig.build = async () => found;
    desk.start();
    await clock.advance(0);
    for (let times = 0; times < 100; times += 1) desk.read();
    expect(rig.prints).toBe(1);
    await clock.advance(4_999);
    expect(rig.prints).toBe(1);
    await clock.advance(1);
    expect(rig.prints).toBe(2);
  });
});

describe('builds that requests start', () => {
  it('are one for a thousand requests at a cold start', async () => {
    const { desk, clock, rig } = startDesk({ isStarted: false });
    const readings = Array.from({ length: 1_000 }, () => desk.read());
    expect(readings.every(({ kind }) => kind === 'not_ready')).toBe(true);
    expect(rig.builds).toBe(1);
    await clock.advance(0);
    expect(desk.read().kind).toBe('snapshot');
    expect(rig.builds).toBe(1);
  });

  it('are none while the snapshot is fresh', async () => {
    const { desk, clock, rig } = startDesk({ isStarted: false });
    desk.read();
    await clock.advance(10_000);
    for (let times = 0; times < 100; times += 1) desk.read();
    expect(rig.builds).toBe(1);
  });

  it('are at most one in thirty seconds, even if they fail', async () => {
    const { desk, clock, rig, meter } = startDesk({ isStarted: false });
    rig.build = away;
    for (let seconds = 0; seconds < 90; seconds += 1) {
      for (let times = 0; times < 10; times += 1) desk.read();
      await clock.advance(1_000);
    }
    expect(rig.builds).toBe(3);
    expect(meter.counted('scheduler_stats_builds_total', 'request')).toBe(3);
    expect(meter.counted('scheduler_stats_builds_total', 'interval')).toBe(0);
  });

  it('do not run while another build is in progress', async () => {
    const { desk, clock, rig } = startDesk();
    await clock.advance(0);
    rig.build = never;
    await clock.advance(60_000);
    for (let times = 0; times < 1_000; times += 1) desk.read();
    expect(rig.builds).toBe(2);
  });
});

describe('a statistics service with other instances', () => {
  it('reads the snapshots of others between its builds', async () => {
    let looks = 0;
    const found: StatsSnapshot = {
      stats: { ...NOTHING, activeUsers: 7 },
      updatedAt: Number.MAX_SAFE_INTEGER,
    };
    const { desk, clock, rig } = startDesk({
      look: async () => {
        looks += 1;
        return found;
      },
    });
    await clock.advance(2_499);
    expect(looks).toBe(0);
    await clock.advance(1);
    expect(desk.read()).toMatchObject({ body: bodyOf(found.stats) });
    await clock.advance(17_500);
    expect({ builds: rig.builds, looks }).toEqual({ builds: 5, looks: 4 });
  });

  it('does not return to an older snapshot', async () => {
    const old: StatsSnapshot = { stats: { ...NOTHING, activeUsers: 7 }, updatedAt: 0 };
    const { desk, clock } = startDesk({ look: async () => old });
    await clock.advance(3_000);
    expect(desk.read()).toMatchObject({ body: bodyOf(NOTHING) });
  });

  it('works while the store does not answer', async () => {
    const { desk, clock } = startDesk({ look: away });
    await clock.advance(3_000);
    expect(desk.read()).toMatchObject({ kind: 'snapshot', isStale: false });
  });
});

it('does nothing after it was stopped', async () => {
  const { desk, clock, rig } = startDesk();
  await clock.advance(0);
  desk.stop();
  await clock.advance(60_000);
  desk.read();
  expect(rig.builds).toBe(1);
  expect(clock.pending()).toBe(0);
});
