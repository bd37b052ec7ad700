/** Prints a node for operators. Pure. */
import type { NodeView } from '@lingua/protocol';
import { ANY } from '../../../domain/language.ts';
import type { NodeChannel } from '../../../domain/node.ts';
import type { NodeStatus } from '../../../management/node-registry.ts';
import type { NodeRecord } from '../../../ports/node-records.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export const DELIVERIES = {
  socket: 'socket',
  endpoint: 'endpoint',
  mailbox: 'pull',
} as const satisfies Record<NodeChannel, string>;

export function viewNode(status: NodeStatus, usedSlots: number | undefined): NodeView {
  const { view, resources } = status;
  const { readyTypes } = view.profile;
  return omitUndefined({
    node_id: view.nodeId,
    status: view.health,
    cordoned: view.isCordoned,
    reason: status.lastReason,
    version: status.version,
    platform: status.platform,
    region: status.region,
    zone: status.zone,
    delivery: DELIVERIES[status.channel],
    generation: status.generation,
    used_slots: usedSlots ?? resources.runningJobs,
    max_concurrent_jobs: view.slots,
    ready_types: readyTypes === ANY ? [ANY] : [...readyTypes],
    unavailable_services: unavailableIn(view),
    accept_public_jobs: view.profile.acceptsPublicJobs,
    cpu_percent: resources.cpuPercent,
    gpu_percent: resources.gpuPercent,
    mem_percent: resources.memoryPercent,
    registered_at_ms: status.registeredAt,
    last_heartbeat_at_ms: view.lastBeatAt,
  });
}

/** Absent in the usual case, when no service is marked. */
const unavailableIn = ({ markedServices }: NodeStatus['view']): string[] | undefined =>
  markedServices.length === 0 ? undefined : [...markedServices];

/** A node of another instance, from the record that its holder publishes. */
export function viewNodeRecord(
  { view, channel, generation, region, holder }: NodeRecord,
  usedSlots: number | undefined,
): NodeView {
  const { readyTypes } = view.profile;
  return omitUndefined({
    node_id: view.nodeId,
    status: view.health,
    cordoned: view.isCordoned,
    region,
    delivery: DELIVERIES[channel],
    generation,
    used_slots: usedSlots ?? 0,
    max_concurrent_jobs: view.slots,
    ready_types: readyTypes === ANY ? [ANY] : [...readyTypes],
    unavailable_services: unavailableIn(view),
    accept_public_jobs: view.profile.acceptsPublicJobs,
    last_heartbeat_at_ms: view.lastBeatAt,
    instance_id: holder.instanceId,
  });
}
