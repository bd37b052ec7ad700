/** The HTTP API as a table, from which routes, documentation and OpenAPI are built. */
import type { TSchema } from 'typebox';
import {
  ClusterReply,
  DeadLetterPath,
  DeadLetterQuery,
  DeadLetterReplay,
  DeadLetterReplayReply,
  DeadLettersPurge,
  DeadLettersPurgeReply,
  DeadLettersQuery,
  DeadLettersReply,
  DeadLetterView,
} from './cluster.ts';
import { DispatchReply, DispatchRequest } from './dispatch.ts';
import { ExplainReply, ExplainRequest, PoolsReply, SimulateQuery, SimulateReply } from './explain.ts';
import { HealthReply } from './health.ts';
import {
  JobAckReport,
  JobCancelReply,
  JobCancelRequest,
  JobDoneReport,
  JobFailReport,
  JobReportReply,
  JobView,
} from './job.ts';
import { MetricsReply } from './metrics.ts';
import {
  HttpNodeHeartbeat,
  HttpNodeHeartbeatReply,
  HttpNodeRegister,
  HttpNodeRegisterReply,
  NodeJobsReply,
} from './node.ts';
import {
  JobsQuery,
  JobsReply,
  NodeOrder,
  NodeOrderReply,
  NodesQuery,
  NodesReply,
  SessionsQuery,
  SessionsReply,
} from './operators.ts';
import { AudioPath, FetchQuery, JobPath, NodePath, WaitQuery } from './path.ts';
import { PoolReloadReply } from './pool-reload.ts';
import { StatsReply } from './stats.ts';

export type HttpEndpoint = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  extension: boolean;
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** Absent: the reply is not JSON, and `mediaType` names its type. */
  reply?: TSchema;
  mediaType?: string;
  /** The reply is a stream of server-sent events, each with a `reply`. */
  isStream?: true;
};

const nodeOrder = (order: string, summary: string): HttpEndpoint => ({
  method: 'POST',
  path: `/api/v1/nodes/:id/${order}`,
  summary,
  extension: true,
  params: NodePath,
  body: NodeOrder,
  reply: NodeOrderReply,
});

const report = (name: string, summary: string, body: TSchema): HttpEndpoint => ({
  method: 'POST',
  path: `/v1/job/${name}`,
  summary,
  extension: false,
  body,
  reply: JobReportReply,
});

const health = (path: string, summary: string): HttpEndpoint => ({
  method: 'GET',
  path,
  summary,
  extension: false,
  reply: HealthReply,
});

export const HTTP_ENDPOINTS: readonly HttpEndpoint[] = [
  {
    method: 'POST',
    path: '/v1/node/register',
    summary: 'Register a node',
    extension: false,
    body: HttpNodeRegister,
    reply: HttpNodeRegisterReply,
  },
  {
    method: 'POST',
    path: '/v1/node/heartbeat',
    summary: 'Keep a node registered',
    extension: false,
    body: HttpNodeHeartbeat,
    reply: HttpNodeHeartbeatReply,
  },
  {
    method: 'GET',
    path: '/v1/node/:id/jobs',
    summary: 'Fetch the jobs of a node that has neither socket nor endpoint',
    extension: true,
    params: NodePath,
    query: FetchQuery,
    reply: NodeJobsReply,
  },
  {
    method: 'POST',
    path: '/v1/dispatch/f2f',
    summary: 'Submit an utterance',
    extension: false,
    body: DispatchRequest,
    reply: DispatchReply,
  },
  {
    method: 'POST',
    path: '/v1/explain',
    summary: 'Explain where an utterance would be placed now, and why; submits nothing',
    extension: true,
    body: ExplainRequest,
    reply: ExplainReply,
  },
  report('ack', 'The node has accepted a job', JobAckReport),
  report('done', 'The node has finished a job', JobDoneReport),
  report('fail', 'The node has failed a job', JobFailReport),
  {
    method: 'POST',
    path: '/v1/job/:id/cancel',
    summary: 'Cancel a job',
    extension: true,
    params: JobPath,
    body: JobCancelRequest,
    reply: JobCancelReply,
  },
  {
    method: 'GET',
    path: '/v1/job/:id',
    summary: 'Read a job, or wait for its end',
    extension: true,
    params: JobPath,
    query: WaitQuery,
    reply: JobView,
  },
  {
    method: 'GET',
    path: '/v1/job/:id/events',
    summary: 'Follow a job to its end',
    extension: true,
    params: JobPath,
    reply: JobView,
    isStream: true,
  },
  {
    method: 'GET',
    path: '/v1/audio/:ref',
    summary: 'Fetch the audio of a job at the url of its audio_ref, with the token given there',
    extension: true,
    params: AudioPath,
    mediaType: 'application/octet-stream',
  },
  {
    method: 'GET',
    path: '/api/v1/nodes',
    summary: 'List nodes',
    extension: true,
    query: NodesQuery,
    reply: NodesReply,
  },
  {
    method: 'GET',
    path: '/api/v1/jobs',
    summary: 'List jobs',
    extension: true,
    query: JobsQuery,
    reply: JobsReply,
  },
  {
    method: 'GET',
    path: '/api/v1/sessions',
    summary: 'List sessions',
    extension: true,
    query: SessionsQuery,
    reply: SessionsReply,
  },
  nodeOrder('cordon', 'Stop giving a node new jobs'),
  nodeOrder('uncordon', 'Resume giving a node new jobs'),
  nodeOrder('drain', 'Stop giving a node new jobs and let it finish the running ones'),
  {
    method: 'GET',
    path: '/api/v1/stats',
    summary:
      'Statistics of all instances: sessions, languages, nodes, services, free computing power. Answered immediately, from a snapshot of the last seconds',
    extension: false,
    reply: StatsReply,
  },
  {
    method: 'GET',
    path: '/api/v1/metrics',
    summary:
      'The metrics of this instance as JSON: the same figures as GET /metrics, with the most frequent of each kind',
    extension: false,
    reply: MetricsReply,
  },
  {
    method: 'POST',
    path: '/api/v1/phase3/reload',
    summary: 'Reload the pools from the configuration file, on this instance',
    extension: true,
    reply: PoolReloadReply,
  },
  {
    method: 'GET',
    path: '/api/v1/cluster',
    summary: 'List the instances and the state of their store',
    extension: true,
    reply: ClusterReply,
  },
  {
    method: 'GET',
    path: '/api/v1/phase3/pools',
    summary: 'List pools and the capabilities of their nodes',
    extension: false,
    reply: PoolsReply,
  },
  {
    method: 'GET',
    path: '/api/v1/phase3/simulate',
    summary: 'Explain where a job would be placed now',
    extension: false,
    query: SimulateQuery,
    reply: SimulateReply,
  },
  {
    method: 'GET',
    path: '/api/v1/dead-letters',
    summary: 'List messages between instances that could not be handled',
    extension: true,
    query: DeadLettersQuery,
    reply: DeadLettersReply,
  },
  {
    method: 'GET',
    path: '/api/v1/dead-letters/:id',
    summary: 'Read a dead letter',
    extension: true,
    params: DeadLetterPath,
    query: DeadLetterQuery,
    reply: DeadLetterView,
  },
  {
    method: 'POST',
    path: '/api/v1/dead-letters/:id/replay',
    summary:
      'Put a dead letter back into the inbox of its instance, or of the answering one if that is gone. It is handled like any other message: it changes a job only if it names the current node and attempt',
    extension: true,
    params: DeadLetterPath,
    body: DeadLetterReplay,
    reply: DeadLetterReplayReply,
  },
  {
    method: 'DELETE',
    path: '/api/v1/dead-letters',
    summary: 'Remove dead letters permanently',
    extension: true,
    query: DeadLettersPurge,
    reply: DeadLettersPurgeReply,
  },
  health('/health/live', 'The process is running'),
  health('/health/ready', 'The instance is ready for work'),
  health('/health', 'Same as /health/ready'),
];
