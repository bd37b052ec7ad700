/** Counts what a client reports about its session when it closes it. The values are the client's own: they only feed metrics. */
import type { ClientStats } from '@lingua/protocol';
import type { Meter } from '../../ports/meter.ts';

export function countClientStats(meter: Meter, stats: ClientStats | undefined): void {
  if (stats === undefined) return;
  const { results = 0, missing = 0, resumes = 0, latency_p50_ms: p50, latency_p99_ms: p99 } = stats;
  meter.count('scheduler_client_outcomes_total', { outcome: 'result' }, results);
  meter.count('scheduler_client_outcomes_total', { outcome: 'missing' }, missing);
  meter.count('scheduler_client_resumes_total', {}, resumes);
  if (p50 !== undefined) meter.observe('scheduler_client_latency_seconds', p50 / 1_000, P50);
  if (p99 !== undefined) meter.observe('scheduler_client_latency_seconds', p99 / 1_000, P99);
}

const P50 = { quantile: 'p50' };
const P99 = { quantile: 'p99' };
