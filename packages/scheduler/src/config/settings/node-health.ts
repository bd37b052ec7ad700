/** Settings of node health: heartbeats, when a node is ready, and marks for missing models. */
import { boolean, group, integer, number } from '../setting.ts';

export const nodeHealth = group('When a node is ready, degraded or offline.', {
  heartbeat_interval_seconds: number({
    default: 15,
    min: 0.1,
    max: 300,
    unit: 'seconds',
    doc: 'Heartbeat interval that is sent to nodes.',
  }),
  heartbeat_timeout_seconds: number({
    default: 45,
    min: 0.2,
    max: 3_600,
    unit: 'seconds',
    doc: 'Time without a heartbeat after which a node is offline.',
  }),
  health_check_count: integer({
    default: 1,
    min: 1,
    max: 100,
    doc: 'Healthy heartbeats in a row that make a registering node ready.',
  }),
  warmup_timeout_seconds: number({
    default: 60,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    doc: 'Time after which a node that is still registering is degraded.',
  }),
  status_scan_interval_seconds: number({
    default: 30,
    min: 0.1,
    max: 600,
    unit: 'seconds',
    doc: 'How often every node is checked, in addition to its timers.',
  }),
  require_gpu: boolean({ default: false, doc: 'Nodes without a GPU are refused with NO_GPU_AVAILABLE.' }),
  flap_window_seconds: number({
    default: 300,
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'Time over which changes between ready and degraded are counted.',
  }),
  flap_max_checks: integer({
    default: 8,
    min: 1,
    max: 1_000,
    doc: 'Most healthy heartbeats that a flapping node needs to be ready again.',
  }),
  failure_threshold: group('When unhealthy heartbeats make a ready node degraded.', {
    window_size: integer({
      default: 5,
      min: 1,
      max: 1_000,
      doc: 'Number of last heartbeats that are checked.',
    }),
    failure_count: integer({ default: 3, min: 1, max: 1_000, doc: 'Unhealthy ones among them.' }),
    consecutive_failure_count: integer({ default: 3, min: 1, max: 1_000, doc: 'Unhealthy ones in a row.' }),
  }),
});

export const modelNotAvailable = group('What a node’s MODEL_NOT_AVAILABLE does.', {
  unavailable_ttl_seconds: number({
    default: 60,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    doc: 'How long a node gets no jobs for a service that it reported as missing.',
  }),
  debounce_window_seconds: number({
    default: 5,
    min: 1,
    max: 60,
    unit: 'seconds',
    doc: 'Time in which the same service and version is handled once.',
  }),
  node_ratelimit_window_seconds: number({
    default: 10,
    min: 1,
    max: 300,
    unit: 'seconds',
    doc: 'Time over which the reports of one node are counted.',
  }),
  node_ratelimit_max: integer({
    default: 30,
    min: 1,
    max: 100_000,
    doc: 'Reports of one node in that time; more are dropped and counted.',
  }),
});
