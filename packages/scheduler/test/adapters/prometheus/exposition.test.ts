/** Histograms and the printed text: compared with a naive count of every observation. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expositionOf } from '../../../src/adapters/prometheus/exposition.ts';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { STAGE_BUCKETS, USUAL_BUCKETS } from '../../../src/domain/metrics/metric-entry.ts';
import { METRICS } from '../../../src/domain/metrics.ts';

const PLAIN = 'scheduler_dispatch_latency_seconds';
const STAGES = 'scheduler_stage_seconds';

/** `le` → value, as printed for one set of labels. */
function printedBuckets(text: string, name: string, label = ''): Map<string, number> {
  const lines = [...text.matchAll(/^(\w+)\{le="([^"]+)"(?:,([^}]*))?\} (\S+)$/gm)];
  return new Map(
    lines
      .filter(([, found, , labels = '']) => found === `${name}_bucket` && labels === label)
      .map(([, , le = '', , value]) => [le, Number(value)]),
  );
}

const figure = (text: string, line: string): number =>
  Number(
    text
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length + 1),
  );

/** Bounds themselves, just around them, and anything in between. */
const seconds = fc.oneof(
  fc.constantFrom(...STAGE_BUCKETS),
  fc.constantFrom(...STAGE_BUCKETS).map((bound) => bound * 1.000_001),
  fc.double({ min: 0, max: 120, noNaN: true }),
  fc.constant(0),
);

describe('histograms', () => {
  it('print the buckets, sum and count of a naive count', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(seconds, { maxLength: 200 }), async (observed) => {
        const meter = createPrometheusMeter();
        for (const value of observed) meter.observe(PLAIN, value);
        const text = await meter.print();
        const expected = [...USUAL_BUCKETS, Number.POSITIVE_INFINITY].map((bound) => [
          bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound),
          observed.filter((value) => value <= bound).length,
        ]);
        expect([...printedBuckets(text, PLAIN)]).toEqual(expected);
        expect(figure(text, `${PLAIN}_count`)).toBe(observed.length);
        expect(figure(text, `${PLAIN}_sum`)).toBeCloseTo(
          observed.reduce((sum, value) => sum + value, 0),
          6,
        );
      }),
      { numRuns: 50 },
    );
  });

  it('count each label set separately, with the bounds of its metric', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('select', 'run'), seconds), { maxLength: 100 }),
        async (observed) => {
          const meter = createPrometheusMeter();
          for (const [stage, value] of observed) meter.observe(STAGES, value, { stage });
          const text = await meter.print();
          for (const stage of new Set(observed.map(([name]) => name))) {
            const mine = observed.filter(([name]) => name === stage).map(([, value]) => value);
            const printed = printedBuckets(text, STAGES, `stage="${stage}"`);
            for (const bound of STAGE_BUCKETS)
              expect(printed.get(String(bound))).toBe(mine.filter((value) => value <= bound).length);
            expect(printed.get('+Inf')).toBe(mine.length);
            expect(figure(text, `${STAGES}_count{stage="${stage}"}`)).toBe(mine.length);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('read the same buckets that they print', async () => {
    const meter = createPrometheusMeter();
    for (const value of [0.000_004, 0.000_3, 0.3, 1_000]) meter.observe(STAGES, value, { stage: 'run' });
    const [reading] = meter.read().distributions(STAGES);
    expect(reading).toMatchObject({ labels: { stage: 'run' }, count: 4, bounds: STAGE_BUCKETS });
    const printed = printedBuckets(await meter.print(), STAGES, 'stage="run"');
    let below = 0;
    for (const [at, bound] of STAGE_BUCKETS.entries()) {
      below += reading?.buckets[at] ?? Number.NaN;
      expect(printed.get(String(bound))).toBe(below);
    }
    expect(reading?.buckets.at(-1)).toBe(1);
  });

  it('ignore NaN and Infinity', async () => {
    const meter = createPrometheusMeter();
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 0.5]) meter.observe(PLAIN, value);
    const text = await meter.print();
    expect(figure(text, `${PLAIN}_count`)).toBe(1);
    expect(figure(text, `${PLAIN}_sum`)).toBe(0.5);
  });

  it('have ascending bounds', () => {
    for (const bounds of [USUAL_BUCKETS, STAGE_BUCKETS])
      expect([...bounds].sort((a, b) => a - b)).toEqual([...bounds]);
  });
});

describe('the printed text', () => {
  it('shows one moment: a count during the print appears in the next', async () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_jobs_admitted_total');
    const printing = meter.print();
    meter.count('scheduler_jobs_admitted_total');
    expect(figure(await printing, 'scheduler_jobs_admitted_total')).toBe(1);
    expect(figure(await meter.print(), 'scheduler_jobs_admitted_total')).toBe(2);
  });

  it('omits a gauge without a value and shows a counter of 0', async () => {
    const text = await createPrometheusMeter().print();
    expect(text).toMatch(/^scheduler_jobs_admitted_total 0$/m);
    expect(text).not.toMatch(/^scheduler_jobs_inflight /m);
  });

  it('has each label set once, even if a label is really called other', async () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_jobs_refused_total', { code: 'other' });
    for (let at = 0; at < 500; at += 1) meter.count('scheduler_jobs_refused_total', { code: `x${at}` });
    const text = await meter.print();
    expect(text.match(/^scheduler_jobs_refused_total\{code="other"\} /gm)).toHaveLength(1);
  });

  it('starts each metric with its help and its type', async () => {
    const text = await createPrometheusMeter().print();
    const [help, type, value] = text
      .split('\n')
      .filter((line) => line.includes('scheduler_jobs_admitted_total'));
    expect(help).toMatch(/^# HELP scheduler_jobs_admitted_total \S/);
    expect([type, value]).toEqual([
      '# TYPE scheduler_jobs_admitted_total counter',
      'scheduler_jobs_admitted_total 0',
    ]);
    expect(text.match(/^# TYPE /gm)).toHaveLength(Object.keys(METRICS).length);
    expect(text.endsWith('\n')).toBe(true);
  });

  it('escapes backslashes, line ends and quotes', () => {
    const entry = { kind: 'counter', help: 'first\nsecond \\ "third"', labels: ['code'] } as const;
    expect(expositionOf('x_total', entry, [{ labels: { code: 'a"b\\c\nd' }, value: 1 }], [])).toBe(
      '# HELP x_total first\\nsecond \\\\ "third"\n# TYPE x_total counter\nx_total{code="a\\"b\\\\c\\nd"} 1\n',
    );
  });

  it('writes values that are no finite number as Prometheus reads them', () => {
    const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e-7, 1e21];
    const series = values.map((value) => ({ labels: {}, value }));
    const lines = expositionOf('x', { kind: 'gauge', help: '' }, series, []).trim().split('\n').slice(2);
    expect(lines).toEqual(['x +Inf', 'x -Inf', 'x NaN', 'x 1e-7', 'x 1e+21']);
  });
});
