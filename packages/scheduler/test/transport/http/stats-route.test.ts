/**
 * GET /api/v1/stats while a snapshot build never ends: every request is answered immediately, and only one build is
 * started.
 */
import { expect, it } from 'vitest';
import {
  createStatsService,
  type SnapshotSource,
  statsTimes,
} from '../../../src/management/stats/stats-service.ts';
import { createPrintStats } from '../../../src/transport/http/views/print-stats.ts';
import { NOTHING, SILENT } from '../../management/stats/stats-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { startServer } from './start-server.ts';

async function startStats() {
  const clock = createManualClock();
  const meter = { count: () => undefined, gauge: () => undefined, observe: () => undefined };
  const rig = { builds: 0, isStuck: true };
  const source: SnapshotSource = {
    build() {
      rig.builds += 1;
      return rig.isStuck
        ? new Promise(() => undefined)
        : Promise.resolve({ stats: NOTHING, updatedAt: clock.now() });
    },
  };
  const desk = createStatsService({
    source,
    print: createPrintStats({ services: () => [] }),
    clock,
    meter,
    log: SILENT,
    times: statsTimes(5_000),
  });
  const server = await startServer({ services: { stats: desk } });
  return { clock, desk, rig, ...server };
}

it('a thousand requests at a cold start get 503 and start one build', async () => {
  const { get, rig } = await startStats();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => get('/api/v1/stats')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers[0]?.body).toEqual({ status: 'stats_not_ready' });
  expect(answers[0]?.headers.get('retry-after')).toBe('5');
  expect(rig.builds).toBe(1);
});

it('the old snapshot is served as stale while the next build hangs', async () => {
  const { get, desk, rig, clock } = await startStats();
  rig.isStuck = false;
  desk.start();
  await clock.advance(0);
  rig.isStuck = true;
  await clock.advance(60_000);
  const { status, body } = await get('/api/v1/stats');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    nodes: { connected_nodes: 0 },
    snapshot: { age_ms: 60_000, stale: true },
  });
  expect(rig.builds).toBe(2);
});

it('scheduler_stats_request_duration_seconds measures from the request to the end of the answer', async () => {
  const clock = createManualClock();
  const observed: number[] = [];
  const meter = {
    count: () => undefined,
    gauge: () => undefined,
    observe: (name: string, seconds: number) => {
      if (name === 'scheduler_stats_request_duration_seconds') observed.push(seconds);
    },
  };
  const read = () => {
    clock.jump(40);
    return { kind: 'not_ready', retryAfterMs: 5_000 } as const;
  };
  const { get } = await startServer({ services: { clock, meter, stats: { read } } as never });
  await get('/api/v1/stats');
  await eventually(() => observed.length === 1);
  expect(observed).toEqual([0.04]);
});
