/** The report of a soak: which series grew and by how much, on the terminal and on a self-contained page. */
import { describe, expect, it } from 'vitest';
import { judgeSoak, warmUpOf } from '../../src/soak/judge/judge-soak.ts';
import { noWork } from '../../src/soak/load/tally.ts';
import type { Series } from '../../src/soak/measure/series.ts';
import { printSoakPage } from '../../src/soak/report/print-page.ts';
import { printSoak } from '../../src/soak/report/print-soak.ts';
import type { Soaked } from '../../src/soak/run-soak.ts';

const SECONDS = 600;
const TOLERANCE = { partPerHour: 0.05, floor: 1 };

const series = (name: string, valueAt: (at: number) => number, judged = true): Series => ({
  group: 'instance <1>',
  name,
  unit: 'MB',
  ...(judged && { tolerance: TOLERANCE }),
  points: Array.from({ length: SECONDS }, (_, at) => ({ at, value: valueAt(at) })),
});

function reportOf(all: readonly Series[], left: Soaked['left'] = [], seconds = SECONDS) {
  const soaked: Soaked = {
    seconds,
    samples: SECONDS,
    everySeconds: 1,
    series: all,
    work: { ...noWork(), results: 77 },
    left,
    errors: left.length === 0 ? {} : { 'the store did not answer': 4 },
    quietAfterSeconds: left.length === 0 ? 12 : undefined,
  };
  return judgeSoak(soaked, { seed: 5, instances: 2 });
}

// Only samples after the warm-up count: before it, all series grow.
const warming = (at: number): number => Math.min(at, 60);
const STEADY = series('steady one', (at) => 100 + warming(at));
const LEAKING = series('leaking one', (at) => 100 + warming(at) + at * 0.1);
const PAUSES = series('pauses', (at) => at, false);

describe('a clean soak', () => {
  const report = reportOf([STEADY, PAUSES, series('never', () => 0)]);

  it('is reported, and series without a verdict are not judged', () => {
    expect(report.isClean).toBe(true);
    const text = printSoak(report);
    expect(text).toContain('Nothing grows, and 12 s after the load everything was as before.');
    expect(text).toMatch(/pauses.*shown only/);
    expect(text).toContain('Always 0: never');
  });

  it('has a chart of every series that changed, and the others in a table', () => {
    const page = printSoakPage(report, new Date(0));
    expect(page.match(/<figure class="chart">/g)).toHaveLength(2);
    expect(page).toContain('Nothing grows');
    expect(page).toMatch(/Never moved.*never/s);
    expect(page).not.toMatch(/<script|<link|https?:/);
    expect(page).toContain('instance &lt;1&gt;');
  });
});

describe('a soak with a leak', () => {
  const left = [{ group: 'Redis', name: 'keys', before: 3, now: 9 }];
  const report = reportOf([STEADY, LEAKING], left);

  it('names what grew per hour, what is left, and the command to repeat it', () => {
    expect(report.isClean).toBe(false);
    const text = printSoak(report);
    expect(text).toMatch(/instance <1>: leaking one grows by \+360 MB per hour \(at least \+360 MB/);
    expect(text).not.toMatch(/steady one grows/);
    expect(text).toContain('Redis: keys was 3 before the load and is 9 after it');
    expect(text.replace(/\s+/g, ' ')).toContain('the store did not answer (4)');
    expect(text).toContain('npm run soak -- --minutes 10 --seed 5 --instances 2');
    expect(printSoakPage(report, new Date(0))).toMatch(/leaking one grows by \+360 MB per hour/);
  });
});

it('a soak of seconds judges no slope and reports that', () => {
  const report = reportOf([LEAKING], [], 60);
  expect(report.isClean).toBe(true);
  expect(printSoak(report)).toContain('The run was too short to judge slopes, and 12 s after');
  // Its page does not look like one that was judged.
  expect(printSoakPage(report, new Date(0))).toContain('<p class="passed plain">');
  expect(printSoakPage(reportOf([STEADY]), new Date(0))).toContain('<p class="passed">');
});

it('the warm-up lasts a quarter of the run, until first entries expire, at most half', () => {
  expect(warmUpOf(3_600)).toBe(900);
  expect(warmUpOf(100)).toBe(34);
  expect(warmUpOf(12)).toBe(6);
});
