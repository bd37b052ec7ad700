/** I11: no sample is over its limit; and I2 as far as samples show it: nothing is left at rest that must be gone. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Finding, Violation } from './violation.ts';

type Sampled = Extract<HistoryEvent, { kind: 'sampled' }>;

export function checkBounds(history: readonly HistoryEvent[]): Finding {
  const samples = ofKind(history, 'sampled');
  const restsAt = ofKind(history, 'quiet').at(-1)?.at ?? Number.POSITIVE_INFINITY;
  const violations: Violation[] = [];
  const last = new Map<string, Sampled>();
  for (const each of samples) {
    const { instance, gauge, value, limit, at } = each;
    last.set(`${instance} ${gauge}`, each);
    // NaN is over every limit, also where a history file has turned it into null.
    if (typeof value === 'number' && value <= limit) continue;
    violations.push({
      invariant: 'I11 bounded',
      at,
      message: `${instance} has ${value} of "${gauge}" and may have ${limit}`,
      about: [instance, gauge],
    });
  }
  let atRest = 0;
  for (const { instance, gauge, value, atRest: most, at } of last.values()) {
    if (most === undefined || at < restsAt) continue;
    atRest += 1;
    if (value <= most) continue;
    violations.push({
      invariant: 'I2 no leak',
      at,
      message: `${instance} has ${value} of "${gauge}" at rest, where ${most} may be left`,
      about: [instance, gauge],
    });
  }
  return {
    violations,
    counts: {
      'gauges sampled': new Set(samples.map(({ gauge }) => gauge)).size,
      'samples of gauges': samples.length,
    },
    judged: { 'I11 bounded': samples.length, 'I2 no leak': atRest },
  };
}
