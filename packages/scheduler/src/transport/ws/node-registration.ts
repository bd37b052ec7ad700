/** Translates node_register and node_heartbeat from the protocol to the registry's types. Pure. */
import type { NodeHeartbeat, NodeRegister, ResourceUsage } from '@lingua/protocol';
import type { NodeTraits, ResourceReport } from '../../domain/capability-report.ts';
import { type NodeId, ownerOf } from '../../domain/ids.ts';
import type { Heartbeat, Registration } from '../../management/node-registry.ts';
import type { Principal } from '../access/gate.ts';
import { toEfficiencies, toFeatures, toHardware, toReport } from '../wire/node-report.ts';
import { omitUndefined } from '../wire/omit-undefined.ts';

/** The rights of the token with which a node registers. */
type RegisteringPeer = Pick<Principal, 'credential' | 'tenantId' | 'nodeIds' | 'binding'>;

export function toRegistration(
  message: NodeRegister,
  as: RegisteringPeer & { readonly nodeId: NodeId | undefined },
): Registration {
  return {
    credential: as.credential,
    channel: 'socket',
    traits: toTraits(message, as),
    report: { models: [], ...toReport(message) },
    hardware: toHardware(message.hardware),
    ...omitUndefined({
      nodeId: as.nodeId,
      isIdFixed: as.nodeIds === undefined ? undefined : true,
      schemaVersion: message.capability_schema_version,
      version: message.version,
      platform: message.platform,
      slots: message.max_concurrent_jobs,
      runningJobIds: message.running_job_ids,
      region: message.region,
      zone: message.zone,
    }),
  };
}

export function toHeartbeat(message: NodeHeartbeat, generation: number): Heartbeat {
  const report = toReport(message);
  return {
    nodeId: message.node_id,
    generation,
    resources: toResources(message.resource_usage),
    ...omitUndefined({
      report: Object.keys(report).length === 0 ? undefined : report,
      health: message.health,
      leavingInMs: message.leaving_in_ms,
      runningJobIds: message.running_job_ids,
      efficiencies: toEfficiencies(message.processing_metrics),
    }),
  };
}

const toTraits = (message: NodeRegister, { tenantId, binding }: RegisteringPeer): NodeTraits => ({
  features: toFeatures(message.features_supported),
  gpuCount: message.hardware.gpus?.length ?? 0,
  ...omitUndefined({
    privateTo: ownerOf(tenantId, message.accept_public_jobs),
    binding,
    supports: message.supports,
  }),
});

const toResources = (usage: ResourceUsage): ResourceReport => ({
  runningJobs: usage.running_jobs,
  ...omitUndefined({
    cpuPercent: usage.cpu_percent,
    gpuPercent: usage.gpu_percent,
    gpuMemoryPercent: usage.gpu_mem_percent,
    memoryPercent: usage.mem_percent,
    gpuQueueLength: usage.gpu_queue_length,
  }),
});
