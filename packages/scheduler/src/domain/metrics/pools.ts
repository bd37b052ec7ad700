/** Metrics of capability pools. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const POOLS_METRICS = {
  scheduler_phase3_pool_selected_total: {
    kind: 'counter',
    help: 'Choices of a pool. hit: the preferred pool or, as a fallback, another one; miss: none of the allowed pools (counted under the preferred one).',
    labels: ['pool', 'outcome', 'fallback'],
  },
  scheduler_phase3_pool_attempt_total: {
    kind: 'counter',
    help: 'Selections within one pool, by result and main reason. missing_core_*: no node of the pool has the service, or has it ready. unexamined: the reason was not computed because too many pools missed at once.',
    labels: ['pool', 'result', 'reason'],
  },
  scheduler_pool_query_total: {
    kind: 'counter',
    help: 'Choices of a pool, by result: a node was found in a pool, or in none.',
    labels: ['result'],
  },
  scheduler_phase3_pools: {
    kind: 'gauge',
    help: 'Pools in force.',
  },
  scheduler_phase3_unpooled_nodes: {
    kind: 'gauge',
    help: 'Nodes that belong to no pool: they get jobs only if no pool is eligible and strict_pool_eligibility is false.',
  },
  scheduler_phase3_reloads_total: {
    kind: 'counter',
    help: 'Reloads of the pools from the configuration, by result.',
    labels: ['result'],
  },
} as const satisfies Record<string, MetricEntry>;
