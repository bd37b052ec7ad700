/** The figures of the last hour: sampled, added up over instances, and bounded. */
import { describe, expect, it } from 'vitest';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { STAGE_BUCKETS } from '../../../src/domain/metrics/metric-entry.ts';
import { createFiguresService } from '../../../src/management/stats/figures-service.ts';
import { createHistory } from '../../../src/management/stats/history.ts';
import { createSampleFigures } from '../../../src/management/stats/sample-figures.ts';
import { type Levels, readSummary, type Summary } from '../../../src/management/stats/summary.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const LEVELS: Levels = { inFlight: 1, waiting: 2, oldestWaitMs: 30, sessions: 4, connected: 3 };

const summaryOf = (given: Partial<Summary> = {}): Summary => ({
  counts: { admitted: 1, finished: 1, failed: 0, cancelled: 0, retries: 0, takeovers: 0, reports: 0 },
  refused: {},
  stages: {},
  levels: LEVELS,
  failing: [],
  ...given,
});

/** All observations in the bucket below that bound. */
const bucketsOf = (bound: number, count: number): number[] =>
  [...STAGE_BUCKETS, Number.POSITIVE_INFINITY].map((each) => (each === bound ? count : 0));

describe('a sample of the figures', () => {
  it('has what was counted since the sample before', () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_jobs_admitted_total', {}, 7);
    const sample = createSampleFigures({ reader: meter.reader, levels: () => LEVELS, failing: () => [] });
    meter.count('scheduler_jobs_admitted_total', {}, 3);
    meter.count('scheduler_jobs_settled_total', { outcome: 'finished', code: '' });
    meter.count('scheduler_jobs_settled_total', { outcome: 'failed', code: 'JOB_TIMEOUT' });
    meter.count('scheduler_jobs_settled_total', { outcome: 'failed', code: 'JOB_CANCELLED' });
    meter.count('scheduler_jobs_refused_total', { code: 'NO_CAPABLE_NODE' }, 2);
    meter.count('scheduler_retries_total', { reason: 'JOB_TIMEOUT' });
    meter.count('scheduler_takeovers_total');
    meter.count('scheduler_client_reports_total', { kind: 'bad_translation' });
    meter.observe('scheduler_stage_seconds', 0.15, { stage: 'run' });
    expect(sample()).toEqual({
      counts: { admitted: 3, finished: 1, failed: 1, cancelled: 1, retries: 1, takeovers: 1, reports: 1 },
      refused: { NO_CAPABLE_NODE: 2 },
      stages: { run: bucketsOf(0.2, 1) },
      levels: LEVELS,
      failing: [],
    });
    expect(sample()).toMatchObject({ counts: { admitted: 0 }, refused: {}, stages: {} });
  });
});

describe('the history', () => {
  it('adds up counts and levels of all instances and takes the oldest wait', () => {
    const history = createHistory();
    history.add('a', summaryOf({ refused: { X: 1 }, stages: { run: bucketsOf(0.2, 1) } }), 0);
    history.add('b', summaryOf({ refused: { X: 2 }, levels: { ...LEVELS, oldestWaitMs: 900 } }), 0);
    expect(history.close(1_000)).toMatchObject({
      at: 1_000,
      spanMs: 1_000,
      instances: 2,
      counts: { admitted: 2, finished: 2 },
      refused: { X: 3 },
      levels: { inFlight: 2, waiting: 4, oldestWaitMs: 900, sessions: 8, connected: 6 },
      stages: { run: { count: 1 } },
    });
  });

  it('counts no summary twice and leaves out an instance that is silent', () => {
    const history = createHistory();
    history.add('a', summaryOf(), 0);
    history.close(1_000);
    expect(history.close(2_000)).toMatchObject({ counts: { admitted: 0 }, levels: { inFlight: 1 } });
    expect(history.close(7_000)).toMatchObject({ instances: 0, levels: { inFlight: 0 } });
    expect(history.instances()).toEqual([]);
  });

  it('spans of ten seconds have the percentiles of all their observations', () => {
    const history = createHistory();
    for (let second = 1; second <= 10; second += 1) {
      const stages = { run: second === 10 ? bucketsOf(5, 60) : bucketsOf(0.2, 1) };
      history.add('a', summaryOf({ stages }), second * 1_000);
      history.close(second * 1_000);
    }
    const [point] = history.points(10);
    expect(point).toMatchObject({ at: 10_000, spanMs: 10_000, counts: { admitted: 10 } });
    expect(point?.stages.run?.count).toBe(69);
    expect(point?.stages.run?.p50Ms).toBeGreaterThan(2_000);
  });

  it('I11: keeps an hour of seconds and of ten seconds', () => {
    const history = createHistory();
    for (let second = 1; second <= 4_000; second += 1) history.close(second * 1_000);
    expect(history.points(1)).toHaveLength(3_600);
    expect(history.points(10)).toHaveLength(360);
    expect(history.points(1)[0]?.at).toBe(401_000);
    expect(history.points(1, 3_999_000).map(({ at }) => at)).toEqual([4_000_000]);
  });

  it('ignores figures of another shape', () => {
    const bad = [
      undefined,
      'text',
      { ...summaryOf(), levels: {} },
      { ...summaryOf(), counts: { ...summaryOf().counts, failed: 'many' } },
      { ...summaryOf(), stages: { run: [1, 2] } },
      { ...summaryOf(), refused: { X: -1 } },
      { ...summaryOf(), failing: [{ nodeId: 1, failed: 1, of: 1 }] },
      {
        ...summaryOf(),
        refused: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`C${at}`, 1])),
      },
    ];
    expect(bad.map(readSummary)).toEqual(bad.map(() => undefined));
    expect(readSummary(JSON.parse(JSON.stringify(summaryOf())))).toEqual(summaryOf());
  });
});

describe('the figures service', () => {
  it('ends a span each second, sends its own figures and adds those of others', async () => {
    const clock = createManualClock();
    const sent: Summary[] = [];
    const service = createFiguresService({
      clock,
      instanceId: 'a',
      sample: summaryOf,
      send: (summary) => sent.push(summary),
    });
    const seen: number[] = [];
    service.onPoint(({ instances }) => seen.push(instances));
    service.start();
    await clock.advance(1_000);
    service.receive('b', summaryOf());
    service.receive('c', { broken: true });
    await clock.advance(1_000);
    expect(seen).toEqual([1, 2]);
    expect(sent).toHaveLength(2);
    expect(service.history.latest()?.counts.admitted).toBe(2);
    service.stop();
    expect(clock.pending()).toBe(0);
  });
});
