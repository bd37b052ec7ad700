/** The HTTP API as a table: routes, documentation and OpenAPI are read from it. */
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
  /** Absent: the answer is no JSON, and `mediaType` says what it is. */
  reply?: TSchema;
  mediaType?: string;
  /** Answered by server-sent events, each of which carries a `reply`. */
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
    summary: 'Hand in an utterance',
    extension: false,
    body: DispatchRequest,
    reply: DispatchReply,
  },
  {
    method: 'POST',
    path: '/v1/explain',
    summary: 'Say where an utterance would go now, and why; nothing is handed in',
    extension: true,
    body: ExplainRequest,
    reply: ExplainReply,
  },
  report('ack', 'The node has taken a job', JobAckReport),
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
    summary: 'Look at a job, or wait for its end',
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
  nodeOrder('cordon', 'Give a node no new jobs'),
  nodeOrder('uncordon', 'Give a node jobs again'),
  nodeOrder('drain', 'Give a node no new jobs and let it finish'),
  {
    method: 'GET',
    path: '/api/v1/stats',
    summary:
      'Statistics of all instances: sessions, languages, nodes, services, free computing power. Always answered at once, from a snapshot of the last seconds',
    extension: false,
    reply: StatsReply,
  },
  {
    method: 'GET',
    path: '/api/v1/metrics',
    summary:
      'What this instance measures, as JSON: the same figures as GET /metrics, with the most frequent of each kind',
    extension: false,
    reply: MetricsReply,
  },
  {
    method: 'POST',
    path: '/api/v1/phase3/reload',
    summary: 'Take over what the configuration file says of pools by now, on this instance',
    extension: true,
    reply: PoolReloadReply,
  },
  {
    method: 'GET',
    path: '/api/v1/cluster',
    summary: 'List instances, and how their store is',
    extension: true,
    reply: ClusterReply,
  },
  {
    method: 'GET',
    path: '/api/v1/phase3/pools',
    summary: 'List pools and what their nodes can do',
    extension: false,
    reply: PoolsReply,
  },
  {
    method: 'GET',
    path: '/api/v1/phase3/simulate',
    summary: 'Say where a job would go now',
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
    summary: 'Look at a dead letter',
    extension: true,
    params: DeadLetterPath,
    query: DeadLetterQuery,
    reply: DeadLetterView,
  },
  {
    method: 'POST',
    path: '/api/v1/dead-letters/:id/replay',
    summary:
      'Put a dead letter into the inbox of its instance again, or of the answering one if that is gone. It is then handled like any other: what it says of a job counts only if it names the current node and attempt',
    extension: true,
    params: DeadLetterPath,
    body: DeadLetterReplay,
    reply: DeadLetterReplayReply,
  },
  {
    method: 'DELETE',
    path: '/api/v1/dead-letters',
    summary: 'Remove dead letters for good',
    extension: true,
    query: DeadLettersPurge,
    reply: DeadLettersPurgeReply,
  },
  health('/health/live', 'The process runs'),
  health('/health/ready', 'The instance is ready for work'),
  health('/health', 'The same as /health/ready'),
];
