/** Histograms are counted in our own arrays: they must come out as if each observation had been kept and sorted into buckets at the end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { STAGE_BUCKETS, USUAL_BUCKETS } from '../../../src/domain/metrics/metric-entry.ts';

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
  it('have the buckets, sum and count of a naive count', async () => {
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

  it('keep series apart by label, with the bounds of their own metric', async () => {
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

  it('are read as they are printed, bucket by bucket', async () => {
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

  it('pass over what is no number: the sum stays one', async () => {
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

describe('a print', () => {
  it('is of one moment: what is counted while it is written comes with the next', async () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_jobs_admitted_total');
    const printing = meter.print();
    meter.count('scheduler_jobs_admitted_total');
    expect(figure(await printing, 'scheduler_jobs_admitted_total')).toBe(1);
    expect(figure(await meter.print(), 'scheduler_jobs_admitted_total')).toBe(2);
  });

  it('leaves out a level nobody has told, and shows a count of 0', async () => {
    const text = await createPrometheusMeter().print();
    expect(text).toMatch(/^scheduler_jobs_admitted_total 0$/m);
    expect(text).not.toMatch(/^scheduler_jobs_inflight /m);
  });

  it('has each label set once, even if somebody really is called other', async () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_jobs_refused_total', { code: 'other' });
    for (let at = 0; at < 500; at += 1) meter.count('scheduler_jobs_refused_total', { code: `x${at}` });
    const text = await meter.print();
    expect(text.match(/^scheduler_jobs_refused_total\{code="other"\} /gm)).toHaveLength(1);
  });
});
