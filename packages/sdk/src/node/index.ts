/** The SDK for GPU nodes. */
export type { JobAssign, JobResult, ResourceUsage } from '@lingua/protocol';
export { BACKOFF_LIMITS, type BackoffLimits, nextTry } from './connection/backoff.ts';
export {
  type Connection,
  type ConnectionLoss,
  type ConnectionOptions,
  createConnection,
} from './connection/connection.ts';
export { StartError } from './connection/refusal.ts';
export { createNode, type GpuNode, type NodeMetrics } from './create-node.ts';
export { JobError } from './job-error.ts';
export {
  type JobContext,
  type JobHandler,
  type JobOutput,
  type JobTexts,
  NODE_EXTENSIONS,
  NODE_LIMITS,
  NODE_TIMINGS,
  type NodeCapabilities,
  type NodeExtension,
  type NodeLimits,
  type NodeLog,
  type NodeOptions,
  type NodeTimings,
} from './node-options.ts';
export { SILENT_LOG } from './safe-log.ts';
export { type TraceContext, traceContext } from './trace-context.ts';
