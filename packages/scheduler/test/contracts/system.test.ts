/** The adapters without state (metrics, log, clock, chance) obey their contracts. */
import { expect, it } from 'vitest';
import { createPrometheusMeter } from '../../src/adapters/prometheus/meter.ts';
import { createLog } from '../../src/adapters/system/log.ts';
import { createSeededChance } from '../../src/cli/simulated-node/seeded-chance.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import { chanceContract } from './chance.ts';
import { logContract } from './log.ts';
import { meterContract, type Reading } from './meter.ts';

const close = async () => undefined;

/** Samples of the text form: name{label="value",…} number. */
function samplesOf(text: string, name: string): Reading[] {
  const lines = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].filter(([, found]) => found === name);
  return lines.map(([, , labels = '', value]) => ({
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]),
    ),
    value: Number(value),
  }));
}

function readPrint(text: string, name: MetricName): Reading[] {
  const counts = samplesOf(text, `${name}_count`);
  const sums = samplesOf(text, `${name}_sum`);
  if (counts.length === 0) return samplesOf(text, name);
  return counts.map((count, at) => ({ ...count, sum: sums[at]?.value ?? Number.NaN }));
}

meterContract('prometheus', async () => {
  const meter = createPrometheusMeter();
  return { meter, close, read: async (name) => readPrint(await meter.print(), name) };
});

// An undeclared label must not break the print.
it('Meter: prometheus ignores undeclared labels', async () => {
  const meter = createPrometheusMeter();
  meter.count('scheduler_jobs_refused_total', { code: 'x', invented: 'y' });
  expect(readPrint(await meter.print(), 'scheduler_jobs_refused_total')).toEqual([
    { labels: { code: 'x' }, value: 1 },
  ]);
});

for (const isPretty of [false, true]) {
  logContract(isPretty ? 'system, for people' : 'system, for machines', async (level) => {
    const lines: string[] = [];
    const log = createLog(level, { isPretty, destination: { write: (line) => lines.push(line) } });
    return { log, close, lines: () => lines };
  });
}

chanceContract('of the runtime', () => Math.random);
chanceContract('seeded', () => createSeededChance(20_260_101));
