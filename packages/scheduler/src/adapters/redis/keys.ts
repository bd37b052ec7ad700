/** Every key in Redis: its name, type, hash slot and expiry. No other file spells one. */
import type { JobId, NodeId, SessionId } from '../../domain/ids.ts';

/** Part of every versioned key: instances of two versions can share a Redis as long as this is the same. */
export const SCHEMA_VERSION = 1;

/** How long the keys of a node are kept after its last report, by default: far longer than any lease. */
export const NODE_IDLE_MS = 3_600_000;

/** How long a forgotten node id keeps its last generation. */
export const GENERATION_MEMORY_MS = 3_600_000;

/** Parts of the index of nodes: enough to spread over the shards, few enough to count together. */
export const NODE_PARTS = 16;

/** Channels of notices about nodes: every instance subscribes to all of them. */
export const NOTICE_PARTS = 4;

export interface Keys {
  /** STRING · own hash slot · for ever. The schema version of the keys. */
  readonly schema: string;

  /** HASH · {node} · 1 h or more after its last report; forgotten, 1 h with the generation alone. slots, accepting, reported, released, generation, credential. */
  nodeMeta(nodeId: NodeId): string;
  /** ZSET · {node} · with the node. "job:attempt" → expiry (ms, server time). */
  nodeLeases(nodeId: NodeId): string;
  /** HASH · {node} · with the leases. "a:job:attempt" since when abandoned, "t:job:attempt" since when it is committed (ms), "r:job:attempt" held at the last report. */
  nodeLeaseMarks(nodeId: NodeId): string;
  /** STRING · {node} · 1 h; withdrawn, 1 min. "generation version region", then the node record with its holder, as JSON. */
  nodeCapabilities(nodeId: NodeId): string;
  /** STRING · {node} · 3 × the node's interval. "ts=<ms>;region=<region>" */
  nodePresence(nodeId: NodeId): string;
  /** STRING · {node} · 1 h. Name of the instance that holds it, for operators; written with its capabilities. */
  nodeOwner(nodeId: NodeId): string;
  /** ZSET · {node} · until fetched or expired. "expiry:job" of the entries for a node that polls → position. */
  nodeMailbox(nodeId: NodeId): string;
  /** HASH · {node} · with the mailbox. Job → its assignment, as JSON. */
  nodeMailboxBodies(nodeId: NodeId): string;
  /** CHANNEL · {node}. Notice that an entry was put into the mailbox; empty. */
  nodeArrivals(nodeId: NodeId): string;

  /** HASH · {job} · deadline and a margin, then retention. The record of a job, and the binding of its request. */
  job(tag: string): string;
  /** HASH · {job} · retention. A settled job whose request was bound to another job. */
  earlierJob(tag: string, jobId: JobId): string;

  /** STRING · {session} · with the state. "instance/incarnation" of the session's owner. */
  sessionOwner(sessionId: SessionId): string;
  /** HASH · {session} · renewed while its client is there, then resume TTL. What another instance needs to continue it: revision, body. */
  sessionState(sessionId: SessionId): string;

  /** HASH · own hash slot · presence TTL. An instance is alive under this name while the key exists. */
  presence(instanceId: string): string;
  /** STRING · hash slot of the presence · 10 min. The name was declared dead, or its instance has left. */
  death(instanceId: string): string;
  /** STREAM · {instance} · until taken over, at the latest 1 h after it was last opened. */
  inbox(instanceId: string): string;
  /** STREAM · {instance} · bounded; for a week after its instance was removed. */
  deadLetters(instanceId: string): string;
  /** ZSET · own hash slot · bounded. Removed instances that left dead letters → until when those are kept (ms). */
  readonly orphanedDeadLetters: string;
  /** STRING · {instance} · a few seconds. Figures of its work: "nodes sessions jobs". */
  instanceFigures(instanceId: string): string;
  /** ZSET · {instance} · until taken over, or the last deadline. Jobs it drives → deadline. */
  instanceJobs(instanceId: string): string;
  /** ZSET · {instance} · retention; bounded. Jobs it settled recently → deadline. */
  instanceSettledJobs(instanceId: string): string;
  /** CHANNEL · {instance}. Ids of jobs that moved and have a subscriber on this instance; nothing else. */
  instanceMoves(instanceId: string): string;
  /** CHANNEL · {instance}. Hints to this instance: partial texts, outcomes of its nodes. */
  instanceHints(instanceId: string): string;
  /** CHANNEL · own hash slot. Hints to all instances: loads of nodes. */
  readonly commonHints: string;
  /** SET · own hash slot · for ever. Every instance that was not yet taken over. */
  readonly instances: string;
  /** STRING · {instance} · 15 s. Its part of the statistics, as JSON. */
  statsPart(instanceId: string): string;
  /** STRING · own hash slot · 45 s. The statistics of all instances, as JSON. */
  readonly statsSnapshot: string;
  /** ZSET · own hash slot, one of a few · for ever. Node id → last seen (ms). */
  nodesSeen(part: number): string;
  /** CHANNEL · own hash slot, one of a few. The node records that changed, as JSON: id, generation, version. */
  nodeNotices(part: number): string;
  /** STRING · own hash slot · for the time that its task sets. An instance does this task. */
  lock(task: string): string;
  /** STRING · own hash slot · debounce window. An instance handles a service, "id@version", that a node lacks. */
  modelUnavailable(serviceVersion: string): string;
}

export function createKeys(prefix: string): Keys {
  const v = `${prefix}:v${SCHEMA_VERSION}`;
  const node = (nodeId: NodeId, what: string): string => `${v}:nodes:{node:${nodeId}}:${what}`;
  return {
    schema: `${prefix}:schema`,
    nodeMeta: (nodeId) => node(nodeId, 'meta'),
    nodeLeases: (nodeId) => node(nodeId, 'reserved'),
    nodeLeaseMarks: (nodeId) => node(nodeId, 'reserved_marks'),
    nodeCapabilities: (nodeId) => node(nodeId, 'capabilities'),
    nodePresence: (nodeId) => node(nodeId, 'presence'),
    nodeOwner: (nodeId) => `${prefix}:nodes:owner:{node:${nodeId}}`,
    nodeMailbox: (nodeId) => node(nodeId, 'mailbox'),
    nodeMailboxBodies: (nodeId) => node(nodeId, 'mailbox_bodies'),
    nodeArrivals: (nodeId) => node(nodeId, 'arrivals'),
    job: (tag) => `${v}:jobs:{job:${tag}}:fsm`,
    earlierJob: (tag, jobId) => `${v}:jobs:{job:${tag}}:earlier:${jobId}`,
    sessionOwner: (sessionId) => `${prefix}:sessions:owner:{session:${sessionId}}`,
    sessionState: (sessionId) => `${v}:sessions:{session:${sessionId}}:state`,
    presence: (instanceId) => `${prefix}:schedulers:presence:${instanceId}`,
    death: (instanceId) => `{${prefix}:schedulers:presence:${instanceId}}:dead`,
    inbox: (instanceId) => `${prefix}:streams:{instance:${instanceId}}:inbox`,
    deadLetters: (instanceId) => `${prefix}:streams:{instance:${instanceId}}:dlq`,
    orphanedDeadLetters: `${v}:schedulers:dlq_orphaned`,
    instanceFigures: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:figures`,
    instanceJobs: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:jobs`,
    instanceSettledJobs: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:jobs_settled`,
    instanceMoves: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:job_moves`,
    instanceHints: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:whispers`,
    commonHints: `${v}:schedulers:whispers`,
    instances: `${prefix}:schedulers:all`,
    statsPart: (instanceId) => `${v}:stats:{instance:${instanceId}}:part`,
    statsSnapshot: `${v}:stats:snapshot`,
    nodesSeen: (part) => `${v}:nodes:last_seen:${part}`,
    nodeNotices: (part) => `${v}:nodes:notices:${part}`,
    lock: (task) => `${v}:locks:${task}`,
    modelUnavailable: (serviceVersion) => `${v}:debounce:model_unavailable:${serviceVersion}`,
  };
}
