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
  scheduler_pool_wanted_nodes: {
    kind: 'gauge',
    help: 'Nodes that the pool should have for its load, as in GET /api/v1/scaling; pool="all" is the fleet. Computed over all instances, at most every 5 s, after a print: a print shows the values of the one before.',
    labels: ['pool'],
  },
  scheduler_pool_load: {
    kind: 'gauge',
    help: 'Used slots and waiting jobs of the pool as a share of its slots; 0 also if it has no slot. pool="all" is the fleet.',
    labels: ['pool'],
  },
  scheduler_pool_oldest_wait_seconds: {
    kind: 'gauge',
    help: 'How long the oldest job has waited that tries this pool first; pool="all" is the fleet.',
    labels: ['pool'],
  },
  scheduler_pool_refused_total: {
    kind: 'counter',
    help: 'Requests that this instance refused for lack of a slot or a node, by the pool that they would have tried first.',
    labels: ['pool'],
  },
  scheduler_phase3_reloads_total: {
    kind: 'counter',
    help: 'Reloads of the pools from the configuration, by result.',
    labels: ['result'],
  },
} as const satisfies Record<string, MetricEntry>;
