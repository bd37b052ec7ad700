/** HTTP nodes: register, heartbeat and fetch jobs. */
import { type Static, Type } from 'typebox';
import { JobAssign } from '../node/job-assign.ts';
import {
  acceptPublicJobs,
  InstalledModels,
  installed,
  leavingInMs,
  nodeExtensions,
  runningJobIds,
} from '../node/registration.ts';
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
import { FeatureFlags } from '../shared/feature-flags.ts';
import { Hardware } from '../shared/hardware.ts';
import { ProcessingMetrics } from '../shared/node-metrics.ts';
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

/** "any_to_any" saves the list of all directions. */
const Directions = Type.Union(
  [list(LanguageDirection, 16_384, 'The directions'), Type.Literal('any_to_any')],
  {
    expects: 'a list of [source, target], or "any_to_any"',
    description: 'Directions of translation, or "any_to_any"; absent: all among semantic_langs',
  },
);

const languages = {
  asr_langs: extension(list(label('Language'), 1024, 'Languages of recognition; absent: any')),
  semantic_langs: optional(
    list(label('Language'), 1024, 'Languages of semantic repair; the source must be one'),
  ),
  nmt_pairs: optional(Directions),
  tts_langs: optional(list(label('Language'), 1024, 'Languages of speech synthesis')),
};

/** What a socket node reports, in the same fields. */
const capabilities = {
  installed_models: extension(InstalledModels),
  installed_services: extension(installed.installed_services),
  capability_by_type: extension(
    described(
      installed.capability_by_type,
      'Service types; absent, without services: those of the languages, and asr',
    ),
  ),
  capability_state: extension(installed.capability_state),
  language_capabilities: extension(
    described(
      installed.language_capabilities,
      'Languages as socket nodes report them; they win over *_langs and nmt_pairs',
    ),
  ),
};

const slots = {
  max_concurrent_jobs: optional(count('Slots: jobs the node takes at once', { minimum: 1, maximum: 10_000 })),
};

export const HttpNodeRegister = Type.Object(
  {
    node_id: id('Id of the node'),
    health: optional(NodeHealth),
    ...languages,
    ...capabilities,
    ...slots,
    capability_schema_version: extension(label('Generation of the capability report: "1.0" or "2.0"')),
    version: extension(label('Version of the node program')),
    platform: extension(label('Operating system')),
    hardware: extension(described(Hardware, 'Hardware of the node; absent: it has a GPU')),
    features_supported: extension(FeatureFlags),
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
          gpu_mem: extension(share('GPU memory use')),
        },
        { description: 'Load of the node' },
      ),
    ),
    ...languages,
    ...capabilities,
    ...slots,
    gpu_queue_length: extension(count('Work waiting for the GPU; above 0 the node is chosen last')),
    processing_metrics: extension(ProcessingMetrics),
    leaving_in_ms: extension(leavingInMs),
    running_jobs: extension(count('Jobs the node is working on')),
    running_job_ids: runningJobIds,
  },
  {
    title: 'HttpNodeHeartbeat',
    description: 'Heartbeat of a node; what is absent stays unchanged',
  },
);
export type HttpNodeHeartbeat = Static<typeof HttpNodeHeartbeat>;

const cancelled = extension(
  list(
    id('Job'),
    MAX_JOBS_FETCHED,
    'Jobs of the node that were cancelled since: it should stop them; absent: none',
  ),
);

export const HttpNodeHeartbeatReply = Type.Object(
  { ok: Type.Literal(true), status: extension(nodeStatus()), cancelled },
  { title: 'HttpNodeHeartbeatReply', description: 'The heartbeat was accepted' },
);
export type HttpNodeHeartbeatReply = Static<typeof HttpNodeHeartbeatReply>;

export const NodeRemovalReply = Type.Object(
  { ok: Type.Literal(true), node_id: id('Id of the node'), status: nodeStatus() },
  { title: 'NodeRemovalReply', description: 'The node gets no more jobs; its unfinished ones are retried' },
);
export type NodeRemovalReply = Static<typeof NodeRemovalReply>;

export const NodeJobsReply = Type.Object(
  {
    jobs: list(
      described(JobAssign, 'A job for the node'),
      MAX_JOBS_FETCHED,
      'Jobs for the node, oldest first; may be empty',
    ),
    cancelled,
  },
  { title: 'NodeJobsReply', description: 'Jobs that waited for the node' },
);
export type NodeJobsReply = Static<typeof NodeJobsReply>;
