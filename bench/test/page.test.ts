/** The page of results shows every result, with any name, and nothing else. */
import { describe, expect, it } from 'vitest';
import { createHistogram } from '../src/open-loop/histogram.ts';
import { createAxis, tickText } from '../src/report/axis.ts';
import { binsOf } from '../src/report/latency-chart.ts';
import { printPage } from '../src/report/print-page.ts';
import { contestRows, contestTables, figuresOf } from '../src/report/tables.ts';
import type { Found } from '../src/run-all.ts';
import { judge } from '../src/scenario/judge.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import type { Point, ScenarioReport } from '../src/scenario/run-scenario.ts';

const scenario = readScenario(
  'own.toml',
  'own',
  `title = "Ours <next to> theirs"
measures = "jobs"
store = "redis"
peers = ["bullmq"]
[arrivals]
rate = 200
[saturation]
from = 100
[[thresholds]]
figure = "flood_per_second"
against = "bullmq"
comparison = "at_least"
target = 1.5
[[thresholds]]
figure = "dispatch_p99_ms"
comparison = "at_most"
target = 5`,
);

const latencies = createHistogram();
for (let ms = 0.2; ms < 20; ms *= 1.1) latencies.record(ms);

const result = (perSecond: number, p99: number) => ({
  figures: { flood_per_second: perSecond, dispatch_p50_ms: 0.9, dispatch_p99_ms: p99 },
  latencies: latencies.counts(),
  saturation: {
    rate: 800,
    isFound: true,
    tried: [
      { rate: 800, p99Ms: 3, refusedShare: 0, isWithin: true },
      { rate: 1_600, p99Ms: 300, refusedShare: 0, isWithin: false },
    ],
  },
});
const points: Point[] = [{ results: { scheduler: result(3_000, 4), bullmq: result(4_000, 8) } }];
const report: ScenarioReport = { scenario, rounds: 3, points, judged: judge(scenario, points) };

const found: Found = {
  machine: {
    cpu: 'Abacus & Sons',
    cores: 2,
    memoryGb: 8,
    system: 'Linux',
    node: 'v20',
    redis: '7',
    loadBefore: 0.5,
    at: '2026-01-02T03:04:05.000Z',
  },
  rounds: 3,
  isQuick: false,
  seconds: 200,
  figures: [
    { scenario: 'memory', name: 'per registered node', value: 3.4, unit: 'KB' },
    ...figuresOf(report),
  ],
  scenarios: [report],
};

describe('the page', () => {
  const html = printPage(found);

  it('names the machine and escapes every name', () => {
    expect(html).toContain('Abacus &amp; Sons, 2 cores');
    expect(html).toContain('Ours &lt;next to&gt; theirs');
    expect(html).not.toContain('<next to>');
  });

  it('shows met and missed thresholds, missed ones first', () => {
    expect(html).toContain('1 of 2 are met, 1 missed.');
    expect(html.indexOf('verdict missed')).toBeLessThan(html.indexOf('verdict met'));
    expect(html).toContain('≥ 1.50');
  });

  it('has all latencies, the search for saturation, and the dispatch path', () => {
    expect(html).toContain('Latencies at 200/s');
    expect(html).toContain('p99 as the rate goes up');
    expect(html).toContain('BullMQ: 800.0/s');
    expect(html).toContain('class="band"');
  });

  it('closes every element it opens', () => {
    const open: string[] = [];
    for (const [, slash, name = '', rest = ''] of html.matchAll(/<(\/?)([a-z0-9]+)((?:"[^"]*"|[^">])*)>/g)) {
      if (slash === '/') expect(open.pop()).toBe(name);
      else if (!rest.endsWith('/') && name !== 'meta') open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('warns of a quick run, and has no verdicts without thresholds', () => {
    const figures = found.figures.map(({ target: _, ...figure }) => figure);
    const quick = printPage({ ...found, isQuick: true, figures });
    expect(quick).toContain('Its figures mean nothing');
    expect(quick).not.toContain('class="verdict');
  });
});

describe('tables', () => {
  it('divide our figure by that of each peer', () => {
    const flood = contestRows(report, points[0] as Point).find(
      ({ title }) => title === 'as fast as they end',
    );
    expect(flood).toMatchObject({ values: [3_000, 4_000], ratios: [0.75] });
    expect(contestTables(report)[0]).toMatch(/as fast as they end +\/s +3,000 +4,000 +0\.75/);
  });

  it('show "more than" for an untested limit, and compare it with nothing', () => {
    const saturated = (rate: number, isFound: boolean) => ({
      figures: { saturation_per_second: rate },
      saturation: { rate, isFound, tried: [] },
    });
    const point: Point = { results: { scheduler: saturated(4_000, false), bullmq: saturated(800, true) } };
    expect(contestRows(report, point)[0]).toMatchObject({ areMore: [true, false], ratios: [undefined] });
    const unfound = { ...report, points: [point], judged: [] };
    expect(contestTables(unfound)[0]).toMatch(/saturation +\/s +more than 4,000 +800/);
    expect(figuresOf(unfound).map(({ isMore }) => isMore)).toEqual([true, undefined]);
    expect(printPage({ ...found, scenarios: [unfound] })).toContain('more than 4,000');
  });

  it('leave a ratio out where a figure is missing', () => {
    const alone = { results: { scheduler: { figures: { cpu_us: 5 } }, bullmq: { figures: {} } } };
    expect(contestRows(report, alone)[0]?.ratios).toEqual([undefined]);
  });
});

describe('charts', () => {
  it('count every job once', () => {
    const sum = binsOf(latencies.counts()).reduce((all, { share }) => all + share, 0);
    expect(sum).toBeCloseTo(100, 6);
  });

  it.each([
    ['log', [0.2, 90], 0.2, 90],
    ['log', [110, 130], 110, 130],
    ['log', [0.01, 90_000], 0.01, 90_000],
    ['linear', [3, 8], 3, 8],
  ] as const)(
    '%s: place values between their ends, in order, with a few marks',
    (scale, values, low, high) => {
      const axis = createAxis('ms', scale, values);
      expect(axis.place(axis.min)).toBeCloseTo(0, 6);
      expect(axis.place(axis.max)).toBeCloseTo(1, 6);
      expect(axis.place(low)).toBeLessThan(axis.place(high));
      expect(axis.ticks.length).toBeGreaterThanOrEqual(3);
      expect(axis.ticks.length).toBeLessThanOrEqual(8);
      expect(axis.ticks.every((tick) => tick >= axis.min && tick <= axis.max)).toBe(true);
    },
  );

  it.each(['log', 'linear'] as const)('%s: put a single value in the middle', (scale) => {
    const place = createAxis('instances', scale, [2], [2]).place(2);
    expect(place).toBeGreaterThan(0.3);
    expect(place).toBeLessThan(0.7);
  });

  it.each([
    [0, '0'],
    [0.05, '0.05'],
    [1_500, '1.5k'],
    [100_000, '100k'],
    [2_000_000, '2M'],
  ])('mark %d as %s', (value, text) => {
    expect(tickText(value)).toBe(text);
  });
});
