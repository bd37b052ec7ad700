/** How a node registers and stays registered: node_register, node_heartbeat, node_error. */
import type { Static } from 'typebox';
import {
  anything,
  count,
  extension,
  flag,
  id,
  label,
  list,
  measure,
  optional,
  text,
} from '../shared/bounded.ts';
import { CapabilityByType, CapabilityState } from '../shared/capability.ts';
import { FeatureFlags } from '../shared/feature-flags.ts';
import { Hardware } from '../shared/hardware.ts';
import { InstalledModel } from '../shared/installed-model.ts';
import { InstalledService } from '../shared/installed-service.ts';
import { LanguageCapabilities } from '../shared/language-capabilities.ts';
import { message } from '../shared/message.ts';
import { AsrMetrics, ProcessingMetrics, RerunMetrics } from '../shared/node-metrics.ts';
import { NodeHealth } from '../shared/node-status.ts';
import { ResourceUsage } from '../shared/resource-usage.ts';

/** Optional fields of a registration, over the socket or HTTP. */
export const nodeExtensions = {
  max_concurrent_jobs: extension(
    count('Slots: jobs that the node runs at once', { minimum: 1, maximum: 10_000 }),
  ),
  supports: extension(
    list(
      id('Ability'),
      64,
      'Extensions that the node supports: job_ack, audio_ref, drain, cancel_ack, text_input, stage_results, glossary, interim',
    ),
  ),
  region: extension(id('Region of the node')),
  zone: extension(id('Zone of the node')),
};

export const acceptPublicJobs = flag(
  'Accepts jobs of all tenants. False, or a token that names a tenant: only jobs of the tenant of its token; without one, jobs that name no tenant',
);

export const runningJobIds = extension(
  list(
    id('Job id'),
    10_000,
    'All jobs that the node has acknowledged and not answered yet; a job that is missing here counts as ended',
  ),
);

/** The capability report of a registration or a heartbeat, over the socket or HTTP. */
export const installed = {
  installed_services: optional(list(InstalledService, 1024, 'Services on the node')),
  capability_by_type: optional(CapabilityByType),
  capability_state: optional(CapabilityState),
  language_capabilities: optional(LanguageCapabilities),
};
export const InstalledModels = list(InstalledModel, 1024, 'Models on the node');

export const NodeRegister = message(
  'node_register',
  'First message of a node; answered by node_register_ack',
  {
    node_id: optional(id('Id from an earlier registration; absent the first time')),
    version: label('Version of the node program'),
    capability_schema_version: optional(label('Generation of the capability report: "1.0" or "2.0"')),
    platform: label('Operating system'),
    hardware: Hardware,
    installed_models: InstalledModels,
    ...installed,
    features_supported: FeatureFlags,
    advanced_features: optional(list(label('Feature'), 256, 'Further features, informational')),
    accept_public_jobs: acceptPublicJobs,
    ...nodeExtensions,
    running_job_ids: runningJobIds,
  },
);
export type NodeRegister = Static<typeof NodeRegister>;

/** A day: longer notices are none. */
export const leavingInMs = count(
  'The node will stop in so many milliseconds, for instance because its machine is taken away: it gets no new jobs, and what it cannot finish moves at once. Absent: it stays',
  { maximum: 86_400_000 },
);

export const NodeHeartbeat = message(
  'node_heartbeat',
  'Sent at the interval of the ack, and when services change',
  {
    node_id: id('Id of the node'),
    timestamp: measure('Clock of the node (epoch ms)'),
    resource_usage: ResourceUsage,
    installed_models: optional(InstalledModels),
    ...installed,
    rerun_metrics: optional(RerunMetrics),
    asr_metrics: optional(AsrMetrics),
    processing_metrics: optional(ProcessingMetrics),
    running_job_ids: runningJobIds,
    health: extension(NodeHealth),
    leaving_in_ms: extension(leavingInMs),
  },
);
export type NodeHeartbeat = Static<typeof NodeHeartbeat>;

export const NodeError = message('node_error', 'A problem of the node that concerns no job', {
  node_id: id('Id of the node'),
  code: label('Error code'),
  message: text('What went wrong'),
  details: optional(anything('Further data, depending on the code')),
});
export type NodeError = Static<typeof NodeError>;
