/** Prints the cluster with the names that the cluster page of the platform reads; what is unknown is 0 there. Pure. */
import type { ClusterInstance, ClusterNode, ClusterReply, NodeView } from '@lingua/protocol';
import type { ClusterView, InstanceLine } from '../../../cluster/operators/cluster-view.ts';
import { ANY } from '../../../domain/language.ts';
import type { NodeProfile } from '../../../domain/profile.ts';

/** How many nodes of all instances have which health. */
export interface NodeCounts {
  readonly all: number;
  readonly online: number;
  readonly ready: number;
}

type Totals = Omit<ClusterReply, 'instance_id' | 'store' | 'instances' | 'orphaned' | 'warnings' | 'nodes'>;

export function viewTotals({ instances, orphans }: ClusterView, nodes: NodeCounts): Totals {
  const sum = (read: (line: InstanceLine) => number | undefined): number =>
    instances.reduce((total, line) => total + (read(line) ?? 0), 0);
  return {
    total_instances: instances.length,
    online_instances: instances.filter(isOnline).length,
    total_nodes: nodes.all,
    online_nodes: nodes.online,
    ready_nodes: nodes.ready,
    total_sessions: sum(({ figures }) => figures?.sessions),
    total_pending: sum(({ inbox }) => inbox?.delivered),
    total_dlq:
      sum(({ inbox }) => inbox?.dead) + orphans.reduce((total, { deadLetters }) => total + deadLetters, 0),
  };
}

export const isOnline = ({ state }: InstanceLine): boolean => state === 'self' || state === 'living';

export const viewOnlineInstance = (
  line: InstanceLine,
  uptimeMs: number | undefined,
): Pick<ClusterInstance, 'is_online' | 'uptime_seconds' | 'inbox_length' | 'dlq_length'> => ({
  is_online: isOnline(line),
  uptime_seconds: Math.floor((uptimeMs ?? 0) / 1_000),
  inbox_length: line.inbox?.messages ?? 0,
  dlq_length: line.inbox?.dead ?? 0,
});

const STATUSES: Readonly<Record<string, ClusterNode['status']>> = {
  ready: 'Ready',
  registering: 'WarmingUp',
};

export function viewClusterNode(node: NodeView, profile: NodeProfile | undefined): ClusterNode {
  const ready = new Set(profile?.readyServices);
  return {
    node_id: node.node_id,
    platform: node.platform ?? '',
    online: node.status !== 'offline',
    status: STATUSES[node.status] ?? 'NotReady',
    cpu_usage: node.cpu_percent ?? 0,
    memory_usage: node.mem_percent ?? 0,
    gpu_usage: node.gpu_percent ?? null,
    current_jobs: node.used_slots,
    max_concurrent_jobs: node.max_concurrent_jobs,
    last_heartbeat: node.last_heartbeat_at_ms ?? 0,
    services: [...new Set([...(profile?.installedServices ?? []), ...ready])].map((serviceId) => ({
      service_id: serviceId,
      status: ready.has(serviceId) ? 'running' : 'stopped',
    })),
    capabilities: viewTypes(profile, node.ready_types),
  };
}

function viewTypes(
  profile: NodeProfile | undefined,
  readyTypes: readonly string[],
): ClusterNode['capabilities'] {
  const installed = profile === undefined || profile.installedTypes === ANY ? [] : profile.installedTypes;
  const ready = new Set(readyTypes.filter((type) => type !== ANY));
  return [...new Set([...installed, ...ready])].map((type) => ({
    service_type: type,
    ready: ready.has(type),
  }));
}
