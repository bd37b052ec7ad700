/** Simulation: what lies together on one shard, by the same hash tags as the keys in Redis. Pure. */
import type { NodeId, SessionId, TenantId } from '../../../../scheduler/dist/domain/ids.js';
import type { RoomId } from '../../../../scheduler/dist/domain/room.js';

/** Parts of the index of nodes, each with its own key. */
export const NODE_PARTS = 16;

/** Keys that belong to no job, node, session or instance. */
export const keys = {
  instances: 'schedulers:all',
  orphans: 'schedulers:dlq_orphaned',
  commonHints: 'schedulers:whispers',
  snapshot: 'stats:snapshot',
  usageTenants: 'usage:tenants',
  nodesSeen: (part: number): string => `nodes:last_seen:${part}`,
  nodeNotices: (part: number): string => `nodes:notices:${part}`,
  lock: (name: string): string => `locks:${name}`,
  arrivals: (nodeId: NodeId): string => `arrivals:${nodeId}`,
} as const;

/** Decides the shard: the same for all that lies together. A number, because every call computes one. */
export type Tag = number;

/** FNV-1a: any hash with an even distribution would do. */
function hash(text: string, from = 0x811c9dc5): Tag {
  let all = from;
  for (let at = 0; at < text.length; at += 1) all = Math.imul(all ^ text.charCodeAt(at), 0x01000193);
  return all;
}

const [JOB, NODE, SESSION, INSTANCE, PRESENCE, TENANT, ROOM] = [
  'job:',
  'node:',
  'session:',
  'instance:',
  'presence:',
  'tenant:',
  'room:',
].map((kind) => hash(kind)) as [Tag, Tag, Tag, Tag, Tag, Tag, Tag];

export const tags = {
  job: (tag: string): Tag => hash(tag, JOB),
  node: (nodeId: NodeId): Tag => hash(nodeId, NODE),
  session: (sessionId: SessionId): Tag => hash(sessionId, SESSION),
  /** Its inbox, dead letters, indexes, figures and statistics. */
  instance: (instanceId: string): Tag => hash(instanceId, INSTANCE),
  presence: (instanceId: string): Tag => hash(instanceId, PRESENCE),
  tenant: (tenantId: TenantId): Tag => hash(tenantId, TENANT),
  room: (roomId: RoomId): Tag => hash(roomId, ROOM),
  key: (key: string): Tag => hash(key),
} as const;

export const shardOf = (tag: Tag, shards: number): number => ((tag ^ (tag >>> 15)) >>> 0) % shards;

export const nodePart = (nodeId: NodeId): number => shardOf(hash(nodeId), NODE_PARTS);
