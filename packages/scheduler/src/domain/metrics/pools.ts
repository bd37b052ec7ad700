/** Metrics of capability pools. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const POOLS_METRICS = {
  scheduler_phase3_pool_selected_total: {
    kind: 'counter',
    help: 'Choices of a pool: the preferred one or, as a fallback, another (hit), or none of those allowed (miss, under the preferred one).',
    labels: ['pool', 'outcome', 'fallback'],
  },
  scheduler_phase3_pool_attempt_total: {
    kind: 'counter',
    help: 'Looks into one pool, by result and main reason. missing_core_*: nobody in the whole pool has it, or has it ready. unexamined: too many pools missed at once to find out why.',
    labels: ['pool', 'result', 'reason'],
  },
  scheduler_pool_query_total: {
    kind: 'counter',
    help: 'Choices of a pool that found a node in one, or in none: the rate of empty ones.',
    labels: ['result'],
  },
  scheduler_phase3_pools: {
    kind: 'gauge',
    help: 'Pools in force.',
  },
  scheduler_phase3_unpooled_nodes: {
    kind: 'gauge',
    help: 'Nodes that no pool takes: they get jobs only if no pool is eligible and strict_pool_eligibility is false.',
  },
  scheduler_phase3_reloads_total: {
    kind: 'counter',
    help: 'Times the pools were read anew from the configuration, by result.',
    labels: ['result'],
  },
} as const satisfies Record<string, MetricEntry>;
