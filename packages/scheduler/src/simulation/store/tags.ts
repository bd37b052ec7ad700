/** Simulation: what lies together on one shard, by the same tags as the keys in Redis have. Pure. */
import type { JobId, NodeId, SessionId } from '../../domain/ids.ts';

/** The id of a bound job is "job-<digest of tenant and request>-<random>": the request finds its record by the digest. */
export function jobTag(jobId: JobId): string {
  return BOUND.exec(jobId)?.[1] ?? jobId;
}

const BOUND = /^job-([A-Za-z0-9_-]{22})-/;

/** Parts of the index of nodes, each a key of its own. */
export const NODE_PARTS = 16;

export const tags = {
  job: (tag: string): string => `job:${tag}`,
  node: (nodeId: NodeId): string => `node:${nodeId}`,
  session: (sessionId: SessionId): string => `session:${sessionId}`,
  /** Its inbox, dead letters, indexes, figures and statistics. */
  instance: (instanceId: string): string => `instance:${instanceId}`,
  presence: (instanceId: string): string => `presence:${instanceId}`,
  nodesSeen: (part: number): string => `nodes:last_seen:${part}`,
  nodeNotices: (part: number): string => `nodes:notices:${part}`,
  lock: (name: string): string => `lock:${name}`,
  instances: 'schedulers:all',
  orphans: 'schedulers:dlq_orphaned',
  commonWhispers: 'schedulers:whispers',
  snapshot: 'stats:snapshot',
} as const;

/** FNV-1a: any even spread does. */
export function spread(text: string, over: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % over;
}

/** Channel: something was put into the mailbox of a node. */
export const arrivalsOf = (nodeId: NodeId): string => `arrivals:${nodeId}`;
