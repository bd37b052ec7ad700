/** Prints a node for operators. Pure. */
import type { NodeAttempt, NodeDetail, NodeView } from '@lingua/protocol';
import { ANY, type Direction } from '../../../domain/language.ts';
import type { NodeChannel } from '../../../domain/node.ts';
import type { NodeStatus } from '../../../management/node-registry.ts';
import type { NodeRecord } from '../../../ports/node-records.ts';
import type { EndedAttempt } from '../../../runtime/attempts/recent-attempts.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export const DELIVERIES = {
  socket: 'socket',
  endpoint: 'endpoint',
  mailbox: 'pull',
} as const satisfies Record<NodeChannel, string>;

/** What the instance that holds a node knows besides the node itself. */
export interface HolderFacts {
  readonly now: number;
  readonly usedSlots: number | undefined;
  /** Absent: there is only one instance. */
  readonly instanceId?: string | undefined;
}

export function viewNode(status: NodeStatus, { now, usedSlots, instanceId }: HolderFacts): NodeView {
  const { view, resources } = status;
  const { readyTypes } = view.profile;
  return omitUndefined({
    node_id: view.nodeId,
    status: view.health,
    cordoned: view.isCordoned,
    order_reason: view.orderReason,
    reason: status.lastReason,
    version: status.version,
    platform: status.platform,
    region: status.region,
    zone: status.zone,
    delivery: DELIVERIES[status.channel],
    instance_id: instanceId,
    generation: status.generation,
    used_slots: usedSlots ?? resources.runningJobs,
    max_concurrent_jobs: view.slots,
    ready_types: words(readyTypes),
    unavailable_services: unavailableIn(view),
    accept_public_jobs: view.profile.privateTo === undefined,
    private_to: view.profile.privateTo,
    cpu_percent: resources.cpuPercent,
    gpu_percent: resources.gpuPercent,
    mem_percent: resources.memoryPercent,
    registered_at_ms: status.registeredAt,
    last_heartbeat_at_ms: view.lastBeatAt,
    heartbeat_age_ms: Math.max(0, now - view.lastBeatAt),
  });
}

/** Absent in the usual case, when no service is marked. */
const unavailableIn = ({ markedServices }: NodeStatus['view']): string[] | undefined =>
  markedServices.length === 0 ? undefined : [...markedServices];

/** The parts of a detail view that need no other instance. */
export type DetailPart = Omit<NodeDetail, 'recent_attempts' | 'unreachable'>;

export const detailNode = (status: NodeStatus, facts: HolderFacts): DetailPart => ({
  ...viewNode(status, facts),
  ...viewProfile(status.view),
  marks: (status.marks ?? []).map(({ serviceId, phase, until }) =>
    omitUndefined({ service_id: serviceId, phase, until_ms: until }),
  ),
});

/** If the holder of the node does not answer. */
export const detailNodeRecord = (record: NodeRecord, usedSlots: number | undefined): DetailPart => ({
  ...viewNodeRecord(record, usedSlots),
  ...viewProfile(record.view),
  marks: record.view.markedServices.map((serviceId) => ({ service_id: serviceId, phase: 'marked' as const })),
});

function viewProfile({
  profile,
}: NodeStatus['view']): Pick<
  NodeDetail,
  'languages' | 'installed_types' | 'services' | 'features' | 'supports'
> {
  const { asr, semantic, tts, nmt, installedTypes, installedServices, readyServices } = profile;
  const ready = new Set(readyServices);
  return {
    languages: {
      asr: words(asr),
      semantic: words(semantic),
      tts: words(tts),
      nmt_sources: words(nmt.sources),
      nmt_targets: words(nmt.targets),
      nmt_blocked: nmt.blocked.map(viewPair),
      nmt_pairs: nmt.pairs.map(viewPair),
    },
    installed_types: words(installedTypes),
    services: [...new Set([...installedServices, ...readyServices])].map((serviceId) => ({
      service_id: serviceId,
      ready: ready.has(serviceId),
    })),
    features: [...profile.features],
    supports: [...profile.supports],
  };
}

const words = (set: typeof ANY | readonly string[]): string[] => (set === ANY ? [ANY] : [...set]);

const viewPair = ({ source, target }: Direction) => ({ src: source, tgt: target });

export const viewAttempt = (
  { jobId, attempt, outcome, reason, endedAt, durationMs }: EndedAttempt,
  instanceId: string | undefined,
): NodeAttempt =>
  omitUndefined({
    job_id: jobId,
    attempt_id: attempt,
    outcome,
    reason,
    duration_ms: durationMs,
    ended_at_ms: endedAt,
    instance_id: instanceId,
  });

/** A node whose holder does not answer, from the record that it published last. */
export function viewNodeRecord(
  { view, channel, generation, region, zone, platform, programVersion, holder }: NodeRecord,
  usedSlots: number | undefined,
): NodeView {
  const { readyTypes } = view.profile;
  return omitUndefined({
    node_id: view.nodeId,
    status: view.health,
    cordoned: view.isCordoned,
    order_reason: view.orderReason,
    version: programVersion,
    platform,
    region,
    zone,
    delivery: DELIVERIES[channel],
    generation,
    used_slots: usedSlots ?? 0,
    max_concurrent_jobs: view.slots,
    ready_types: words(readyTypes),
    unavailable_services: unavailableIn(view),
    accept_public_jobs: view.profile.privateTo === undefined,
    private_to: view.profile.privateTo,
    last_heartbeat_at_ms: view.lastBeatAt,
    instance_id: holder.instanceId,
    outdated: true,
  });
}
