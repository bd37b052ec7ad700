/** Every key in Redis: its name, type, slot and life. Nothing else spells one. */
import type { JobId, NodeId, SessionId } from '../../domain/ids.ts';

/** Part of every versioned key: instances of two versions can share a Redis as long as this is the same. */
export const SCHEMA_VERSION = 1;

/** How long the keys of a node outlive its last report, unless said otherwise: far longer than any lease lasts. */
export const NODE_IDLE_MS = 3_600_000;

/** How long a forgotten node id still knows its last generation. */
export const GENERATION_MEMORY_MS = 3_600_000;

/** Parts of the index of nodes: enough that no shard has all of it, few enough to count in one go. */
export const NODE_PARTS = 16;

/** Channels of notices about nodes: every instance listens to all of them. */
export const NOTICE_PARTS = 4;

export interface Keys {
  /** STRING · own slot · for ever. The schema version the keys are written in. */
  readonly schema: string;

  /** HASH · {node} · 1 h or more after its last report; forgotten, 1 h with the generation alone. slots, accepting, reported, released, generation, credential. */
  nodeMeta(nodeId: NodeId): string;
  /** ZSET · {node} · with the node. "job:attempt" → expiry (ms, server time). */
  nodeLeases(nodeId: NodeId): string;
  /** HASH · {node} · with the leases. "a:job:attempt" since when abandoned, "t:job:attempt" since when it is committed (ms), "r:job:attempt" held at the last report. */
  nodeLeaseMarks(nodeId: NodeId): string;
  /** STRING · {node} · 1 h; withdrawn, 1 min. "generation version region", then what others must know of the node, its holder among it, as JSON. */
  nodeCapabilities(nodeId: NodeId): string;
  /** STRING · {node} · 3 × the node's interval. "ts=<ms>;region=<region>" */
  nodePresence(nodeId: NodeId): string;
  /** STRING · {node} · 1 h. Name of the instance that holds it, for whoever looks; written with its capabilities. */
  nodeOwner(nodeId: NodeId): string;
  /** ZSET · {node} · until fetched or expired. "expiry:job" of what waits for a node that polls → its turn. */
  nodeMailbox(nodeId: NodeId): string;
  /** HASH · {node} · with the mailbox. Job → its assignment, as JSON. */
  nodeMailboxBodies(nodeId: NodeId): string;
  /** CHANNEL · {node}. Says that something was put into the mailbox; carries nothing. */
  nodeArrivals(nodeId: NodeId): string;

  /** HASH · {job} · deadline and a margin, then retention. The record of a job, and the binding of its request. */
  job(tag: string): string;
  /** HASH · {job} · retention. A settled job whose request was bound anew. */
  earlierJob(tag: string, jobId: JobId): string;

  /** STRING · {session} · with the state. "instance/incarnation" of whoever has the session. */
  sessionOwner(sessionId: SessionId): string;
  /** HASH · {session} · renewed while its client is there, then resume TTL. What another instance needs to go on: revision, body. */
  sessionState(sessionId: SessionId): string;

  /** HASH · own slot · presence TTL. An instance lives under this name as long as the key exists. */
  presence(instanceId: string): string;
  /** STRING · slot of the presence · 10 min. The name was declared dead, or its instance has left. */
  death(instanceId: string): string;
  /** STREAM · {instance} · until adopted, at the latest 1 h after it was last opened. */
  inbox(instanceId: string): string;
  /** STREAM · {instance} · bounded; after its instance is gone, for a week. */
  deadLetters(instanceId: string): string;
  /** ZSET · own slot · bounded. Instances that are gone and left dead letters → until when those are kept (ms). */
  readonly orphanedDeadLetters: string;
  /** STRING · {instance} · a few seconds. What it says of its work: "nodes sessions jobs". */
  instanceFigures(instanceId: string): string;
  /** ZSET · {instance} · until adopted, or the last deadline. Jobs it drives → deadline. */
  instanceJobs(instanceId: string): string;
  /** ZSET · {instance} · retention; bounded. Jobs it settled lately → deadline. */
  instanceSettledJobs(instanceId: string): string;
  /** CHANNEL · {instance}. Ids of jobs that moved and that somebody on this instance waits for; carries nothing else. */
  instanceMoves(instanceId: string): string;
  /** CHANNEL · {instance}. What others hint to this instance: partial texts, outcomes of its nodes. */
  instanceHints(instanceId: string): string;
  /** CHANNEL · own slot. What is sent as a hint to all: loads of nodes. */
  readonly commonHints: string;
  /** SET · own slot · for ever. Every instance that was not yet adopted. */
  readonly instances: string;
  /** STRING · {instance} · 15 s. Its part of the statistics, as JSON. */
  statsPart(instanceId: string): string;
  /** STRING · own slot · 45 s. The statistics of all instances, as JSON. */
  readonly statsSnapshot: string;
  /** ZSET · own slot, one of a few · for ever. Node id → last seen (ms). */
  nodesSeen(part: number): string;
  /** CHANNEL · own slot, one of a few. Which node records of nodes changed, as JSON: id, generation, version. */
  nodeNotices(part: number): string;
  /** STRING · own slot · as long as its task says. Somebody does this task. */
  lock(task: string): string;
  /** STRING · own slot · debounce window. Somebody deals with a service, "id@version", that a node lacks. */
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
