/** Metrics of tenants and fairness. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const TENANTS_METRICS = {
  scheduler_tenant_refused_total: {
    kind: 'counter',
    help: 'Sessions, jobs and requests refused by a limit of their tenant, by limit: sessions, inflight, waiting, jobs, audio, rate.',
    labels: ['limit'],
    limits: [
      'scheduler.tenant_limits.max_sessions',
      'scheduler.tenant_limits.max_inflight_jobs',
      'scheduler.queue.max_waiting_per_tenant',
      'scheduler.tenant_limits.max_share_percent',
    ],
  },
  scheduler_tenants_known: {
    kind: 'gauge',
    help: 'Tenants that are currently counted, by kind: sessions, inflight, waiting, requests.',
    labels: ['of'],
  },
  scheduler_usage_waiting: {
    kind: 'gauge',
    help: 'Jobs whose usage is not written yet; at 20,000 further ones are dropped.',
  },
  scheduler_usage_dropped_total: {
    kind: 'counter',
    help: 'Jobs whose usage this instance did not write because too many were waiting for the store. They count if another instance takes them over.',
  },
  scheduler_quota_refused_total: {
    kind: 'counter',
    help: 'New work refused because its tenant had used up a hard quota, by unit (jobs, audio_seconds, characters, voice_seconds) and period (day, month).',
    labels: ['unit', 'period'],
    limits: ['scheduler.quotas'],
  },
  scheduler_waiting_served_total: {
    kind: 'counter',
    help: 'Jobs that waited for a slot and got one, by class: retry, high, normal, low.',
    labels: ['class'],
  },
} as const satisfies Record<string, MetricEntry>;
