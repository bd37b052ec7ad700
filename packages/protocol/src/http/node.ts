/** HTTP nodes: register, heartbeat and fetch jobs. */
import { type Static, Type } from 'typebox';
import { JobAssign } from '../node/job-assign.ts';
import { acceptPublicJobs, nodeExtensions, runningJobIds } from '../node/registration.ts';
import {
  count,
  described,
  extension,
  id,
  label,
  list,
  oneOf,
  optional,
  quantity,
} from '../shared/bounded.ts';
import { NodeHealth, nodeStatus } from '../shared/node-status.ts';
import { MAX_JOBS_FETCHED } from './path.ts';

/** An array of two strings, which every JSON Schema dialect expresses alike. */
const LanguageDirection = Type.Unsafe<[source: string, target: string]>({
  type: 'array',
  items: label('Language'),
  minItems: 2,
  maxItems: 2,
  description: '[source, target]',
});

const languages = {
  semantic_langs: optional(
    list(label('Language'), 1024, 'Languages of semantic repair; the source must be one'),
  ),
  nmt_pairs: optional(
    list(LanguageDirection, 16_384, 'Directions of translation; absent: all among semantic_langs'),
  ),
  tts_langs: optional(list(label('Language'), 1024, 'Languages of speech synthesis')),
};

const slots = {
  max_concurrent_jobs: optional(count('Slots: jobs the node takes at once', { minimum: 1, maximum: 10_000 })),
};

export const HttpNodeRegister = Type.Object(
  {
    node_id: id('Id of the node'),
    health: optional(NodeHealth),
    ...languages,
    ...slots,
    endpoint: extension(
      Type.String({
        pattern: '^https?://[^\\s]+$',
        maxLength: 2048,
        expects: 'an http or https URL',
        description: 'URL that receives its jobs by POST; absent: they are fetched or sent over a socket',
      }),
    ),
    supports: nodeExtensions.supports,
    region: nodeExtensions.region,
    zone: nodeExtensions.zone,
    running_job_ids: runningJobIds,
    accept_public_jobs: extension(acceptPublicJobs),
  },
  { title: 'HttpNodeRegister', description: 'Registration of a node' },
);
export type HttpNodeRegister = Static<typeof HttpNodeRegister>;

export const HttpNodeRegisterReply = Type.Object(
  {
    ok: Type.Literal(true),
    node_id: extension(id('Id of the node')),
    status: extension(nodeStatus()),
    heartbeat_interval_ms: extension(count('How often to heartbeat')),
    generation: extension(count('Number of this registration; the highest wins')),
    delivery: extension(oneOf(['socket', 'endpoint', 'pull'], 'How jobs reach the node')),
  },
  { title: 'HttpNodeRegisterReply', description: 'The node is registered' },
);
export type HttpNodeRegisterReply = Static<typeof HttpNodeRegisterReply>;

/** Slightly above 1 is a meter's error; a percentage is a mistake that the error should name. */
const share = (of: string) => quantity(`${of} from 0 to 1; -1 if unknown`, { minimum: -1, maximum: 10 });

export const HttpNodeHeartbeat = Type.Object(
  {
    node_id: id('Id of the node'),
    health: optional(NodeHealth),
    current_load: optional(
      Type.Object(
        {
          gpu: optional(share('GPU use')),
          cpu: optional(share('CPU use')),
          mem: extension(share('Memory use')),
        },
        { description: 'Load of the node' },
      ),
    ),
    ...languages,
    ...slots,
    running_jobs: extension(count('Jobs the node is working on')),
    running_job_ids: runningJobIds,
  },
  {
    title: 'HttpNodeHeartbeat',
    description: 'Heartbeat of a node; absent languages, slots and health stay unchanged',
  },
);
export type HttpNodeHeartbeat = Static<typeof HttpNodeHeartbeat>;

export const HttpNodeHeartbeatReply = Type.Object(
  { ok: Type.Literal(true), status: extension(nodeStatus()) },
  { title: 'HttpNodeHeartbeatReply', description: 'The heartbeat was accepted' },
);
export type HttpNodeHeartbeatReply = Static<typeof HttpNodeHeartbeatReply>;

export const NodeJobsReply = Type.Object(
  {
    jobs: list(
      described(JobAssign, 'A job for the node'),
      MAX_JOBS_FETCHED,
      'Jobs for the node, oldest first; may be empty',
    ),
  },
  { title: 'NodeJobsReply', description: 'Jobs that waited for the node' },
);
export type NodeJobsReply = Static<typeof NodeJobsReply>;
