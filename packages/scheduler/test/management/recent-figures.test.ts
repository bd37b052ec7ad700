/** Rates of the last seconds come out of the counters, and forget what is longer ago. */
import { describe, expect, it } from 'vitest';
import { createPrometheusMeter } from '../../src/adapters/prometheus/meter.ts';
import { createRecentFigures } from '../../src/management/health/recent-figures.ts';
import { createManualClock } from '../support/manual-clock.ts';

function start() {
  const clock = createManualClock();
  const meter = createPrometheusMeter();
  const figures = createRecentFigures({ clock, reader: meter.reader });
  figures.start();
  return { clock, meter, figures };
}

describe('figures of the last seconds', () => {
  it('are requests per second, accepted and refused, of the last ten', async () => {
    const { clock, meter, figures } = start();
    expect(figures.requestsPerSecond()).toBe(0);
    for (let second = 0; second < 30; second += 1) {
      meter.count('scheduler_jobs_admitted_total', undefined, 30);
      meter.count('scheduler_jobs_refused_total', { code: 'RATE_LIMITED' }, 10);
      await clock.advance(1_000);
    }
    expect(figures.requestsPerSecond()).toBeCloseTo(40, 0);
    await clock.advance(5_000);
    expect(figures.requestsPerSecond()).toBeCloseTo(20, 0);
    await clock.advance(6_000);
    expect(figures.requestsPerSecond()).toBe(0);
  });

  it('are the share of first tries of the last minute with a slot', async () => {
    const { clock, meter, figures } = start();
    expect(figures.firstTryRatio()).toBe(1);
    const tried = (result: string, by: number) =>
      meter.count('scheduler_reserve_first_try_total', { result }, by);
    tried('success', 60);
    tried('fail', 30);
    tried('error', 10);
    expect(figures.firstTryRatio()).toBeCloseTo(0.6);
    await clock.advance(50_000);
    expect(figures.firstTryRatio()).toBeCloseTo(0.6);
    tried('success', 100);
    await clock.advance(5_000);
    expect(figures.firstTryRatio()).toBeCloseTo(0.8);
    await clock.advance(10_000);
    expect(figures.firstTryRatio()).toBe(1);
  });

  it('keep a bounded number of samples, and none when stopped', async () => {
    const { clock, figures } = start();
    await clock.advance(300_000);
    expect(clock.pending()).toBe(1);
    figures.stop();
    expect(clock.pending()).toBe(0);
  });
});
