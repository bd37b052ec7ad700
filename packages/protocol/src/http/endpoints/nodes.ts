/** Endpoints of HTTP nodes. */
import type { TSchema } from 'typebox';
import { JobAckReport, JobDoneReport, JobFailReport, JobPartialReport, JobReportReply } from '../job.ts';
import {
  HttpNodeHeartbeat,
  HttpNodeHeartbeatReply,
  HttpNodeRegister,
  HttpNodeRegisterReply,
  NodeJobsReply,
  NodeRemovalReply,
} from '../node.ts';
import { FetchQuery, NodePath } from '../path.ts';
import type { HttpEndpoint } from './endpoint.ts';

const report = (name: string, summary: string, body: TSchema, fields: object): HttpEndpoint => ({
  method: 'POST',
  path: `/v1/job/${name}`,
  operationId: `${name}Job`,
  tag: 'jobs',
  roles: ['node'],
  summary,
  extension: false,
  body,
  reply: JobReportReply,
  errors: ['SCHEDULER_DEPENDENCY_DOWN'],
  example: { body: { job_id: 'job-1', attempt_id: 1, node_id: 'example-node', ...fields } },
});

export const NODE_ENDPOINTS: readonly HttpEndpoint[] = [
  {
    method: 'POST',
    path: '/v1/node/register',
    operationId: 'registerNode',
    tag: 'nodes',
    roles: ['node'],
    summary: 'Register a node',
    extension: false,
    body: HttpNodeRegister,
    reply: HttpNodeRegisterReply,
    errors: [
      'NODE_ID_CONFLICT',
      'NO_GPU_AVAILABLE',
      'INVALID_CAPABILITY_SCHEMA',
      'NODE_UNAVAILABLE',
      'SCHEDULER_DEPENDENCY_DOWN',
    ],
    example: {
      body: {
        node_id: 'example-node',
        health: 'ready',
        semantic_langs: ['en', 'zh'],
        nmt_pairs: [
          ['en', 'zh'],
          ['zh', 'en'],
        ],
        tts_langs: ['en', 'zh'],
        max_concurrent_jobs: 2,
      },
    },
  },
  {
    method: 'POST',
    path: '/v1/node/heartbeat',
    operationId: 'beatNode',
    tag: 'nodes',
    roles: ['node'],
    summary: 'Keep a node registered',
    extension: false,
    body: HttpNodeHeartbeat,
    reply: HttpNodeHeartbeatReply,
    errors: ['NOT_FOUND', 'SCHEDULER_DEPENDENCY_DOWN'],
    example: {
      body: { node_id: 'example-node', health: 'ready', current_load: { gpu: 0.52, cpu: 0.33 } },
    },
  },
  {
    method: 'GET',
    path: '/v1/node/:id/jobs',
    operationId: 'fetchJobs',
    tag: 'nodes',
    roles: ['node'],
    summary: 'Fetch the jobs of a node that has neither socket nor endpoint',
    extension: true,
    params: NodePath,
    query: FetchQuery,
    reply: NodeJobsReply,
    errors: ['NOT_FOUND', 'SCHEDULER_DEPENDENCY_DOWN'],
    example: { params: { id: 'example-node' }, query: { wait_ms: 0, max: 2 } },
  },
  {
    method: 'DELETE',
    path: '/v1/node/:id',
    operationId: 'removeNode',
    tag: 'nodes',
    roles: ['node'],
    summary: 'Deregister a node; its unfinished jobs are retried on other nodes',
    extension: true,
    params: NodePath,
    reply: NodeRemovalReply,
    errors: ['INVALID_MESSAGE', 'NOT_FOUND', 'SCHEDULER_DEPENDENCY_DOWN'],
    example: { params: { id: 'example-node' } },
  },
  report('ack', 'The node has accepted a job', JobAckReport, {}),
  {
    ...report(
      'partial',
      'The node has recognised a part of the speech; the session gets asr_partial',
      JobPartialReport,
      {
        text: 'hel',
      },
    ),
    operationId: 'reportPartialText',
    extension: true,
  },
  report('done', 'The node has finished a job', JobDoneReport, {
    status: 'ok',
    text_asr: 'hello',
    text_translated: '你好',
  }),
  report('fail', 'The node has failed a job', JobFailReport, {
    status: 'error',
    reason: 'MODEL_LOAD_FAILED',
  }),
];
