/** The number of series stays bounded when peers invent label values. */
import { expect, it } from 'vitest';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';

const SETTLED = 'scheduler_jobs_settled_total';

it('counts invented error codes as other and keeps the outcome label', () => {
  const { count, reader } = createPrometheusMeter();
  for (let at = 0; at < 1_000; at++) count(SETTLED, { outcome: 'failed', code: `E_${at}` });
  for (const _ of [1, 2, 3]) count(SETTLED, { outcome: 'finished', code: '' });
  const series = reader.series(SETTLED);
  const sum = (outcome: string): number =>
    series.filter(({ labels }) => labels.outcome === outcome).reduce((all, { value }) => all + value, 0);
  expect([sum('failed'), sum('finished'), sum('other')]).toEqual([1_000, 3, 0]);
});

it('I11 bounded: counts all invented label sets in one series', () => {
  const { count, reader } = createPrometheusMeter();
  for (let at = 0; at < 1_000; at++) count(SETTLED, { outcome: `o${at}`, code: `E_${at}` });
  const series = reader.series(SETTLED);
  expect(series.length).toBeLessThanOrEqual(251);
  expect(series.reduce((all, { value }) => all + value, 0)).toBe(1_000);
  expect(series.at(-1)).toEqual({ labels: { outcome: 'other', code: 'other' }, value: 750 });
});

it('I6: a print of thousands of lines lets other work run in between', async () => {
  const meter = createPrometheusMeter();
  for (let at = 0; at < 200; at++) meter.count('scheduler_node_errors_total', { code: `E_${at}` });
  let turns = 0;
  let isOver = false;
  const tick = (): void => {
    turns += 1;
    meter.count('scheduler_heartbeats_total');
    meter.count('scheduler_waiting_served_total', { class: 'low' });
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const text = await meter.print();
  isOver = true;
  expect(turns).toBeGreaterThan(5);
  expect(text).toContain('\nscheduler_heartbeats_total 0\n');
  expect(text).not.toContain('scheduler_waiting_served_total{');
});
