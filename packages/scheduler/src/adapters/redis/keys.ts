/** The name of every key in Redis. No other file spells one; `connection/key-table.ts` says what is behind each. */
import type { JobId, NodeId, SessionId, TenantId } from '../../domain/ids.ts';
import type { RoomId } from '../../domain/room.ts';

/** Of keys and of messages between instances: two builds can share a Redis as long as it is the same. Part of every versioned key. */
export const SCHEMA_VERSION = 1;

/** How long the keys of a node are kept after its last report, by default: far longer than any lease. */
export const NODE_IDLE_MS = 3_600_000;

/** How long a forgotten node id keeps its last generation. */
export const GENERATION_MEMORY_MS = 3_600_000;

/** How long the orders for a node are kept after it registered last: it may be under repair. */
export const ORDERS_MEMORY_MS = 30 * 86_400_000;

/** How long the followers of a room are kept after the last write there: they remove themselves long before. */
export const FOLLOWERS_MEMORY_MS = 30 * 86_400_000;

/** Parts of the index of nodes: enough to spread over the shards, few enough to count together. */
export const NODE_PARTS = 16;

/** Channels of notices about nodes: every instance subscribes to all of them. */
export const NOTICE_PARTS = 4;

export interface Keys {
  readonly schema: string;
  readonly payloadKey: string;

  nodeMeta(nodeId: NodeId): string;
  nodeOrders(nodeId: NodeId): string;
  nodeLeases(nodeId: NodeId): string;
  nodeLeaseMarks(nodeId: NodeId): string;
  nodeCapabilities(nodeId: NodeId): string;
  nodePresence(nodeId: NodeId): string;
  nodeOwner(nodeId: NodeId): string;
  nodeMailbox(nodeId: NodeId): string;
  nodeMailboxBodies(nodeId: NodeId): string;
  nodeArrivals(nodeId: NodeId): string;

  job(tag: string): string;
  earlierJob(tag: string, jobId: JobId): string;

  sessionOwner(sessionId: SessionId): string;
  sessionState(sessionId: SessionId): string;

  roomLog(roomId: RoomId): string;
  roomFollowers(roomId: RoomId): string;
  roomRecord(roomId: RoomId): string;
  roomCodes(tenantId: TenantId): string;
  roomsEnded(tenantId: TenantId): string;

  usageHour(tenantId: TenantId, hour: number): string;
  usageDay(tenantId: TenantId, day: string): string;
  usageMonth(tenantId: TenantId, month: string): string;
  usageCounted(tenantId: TenantId): string;
  readonly usageTenants: string;

  glossaries(tenantId: TenantId): string;

  presence(instanceId: string): string;
  death(instanceId: string): string;
  inbox(instanceId: string): string;
  deadLetters(instanceId: string): string;
  deadLetterTenants(instanceId: string): string;
  readonly orphanedDeadLetters: string;
  instanceFigures(instanceId: string): string;
  instanceJobs(instanceId: string): string;
  instanceSettledJobs(instanceId: string): string;
  instanceRooms(instanceId: string): string;
  instanceMoves(instanceId: string): string;
  instanceHints(instanceId: string): string;
  readonly commonHints: string;
  readonly instances: string;
  statsPart(instanceId: string): string;
  readonly statsSnapshot: string;
  nodesSeen(part: number): string;
  nodeNotices(part: number): string;
  lock(task: string): string;
  modelUnavailable(serviceVersion: string): string;
}

export function createKeys(prefix: string): Keys {
  const v = `${prefix}:v${SCHEMA_VERSION}`;
  const node = (nodeId: NodeId, what: string): string => `${v}:nodes:{node:${nodeId}}:${what}`;
  const usage = (tenantId: TenantId, what: string): string => `${v}:usage:{tenant:${tenantId}}:${what}`;
  const room = (roomId: RoomId, what: string): string => `${v}:rooms:{room:${roomId}}:${what}`;
  return {
    schema: `${prefix}:schema`,
    payloadKey: `${v}:payload_key`,
    nodeMeta: (nodeId) => node(nodeId, 'meta'),
    nodeOrders: (nodeId) => node(nodeId, 'orders'),
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
    roomLog: (roomId) => room(roomId, 'log'),
    roomFollowers: (roomId) => room(roomId, 'followers'),
    roomRecord: (roomId) => room(roomId, 'record'),
    roomCodes: (tenantId) => `${v}:rooms:{tenant:${tenantId}}:codes`,
    roomsEnded: (tenantId) => `${v}:rooms:{tenant:${tenantId}}:ended`,
    usageHour: (tenantId, hour) => usage(tenantId, `hour:${hour}`),
    usageDay: (tenantId, day) => usage(tenantId, `day:${day}`),
    usageMonth: (tenantId, month) => usage(tenantId, `month:${month}`),
    usageCounted: (tenantId) => usage(tenantId, 'counted'),
    usageTenants: `${v}:usage:tenants`,
    glossaries: (tenantId) => `${v}:glossaries:{tenant:${tenantId}}`,
    presence: (instanceId) => `${prefix}:schedulers:presence:${instanceId}`,
    death: (instanceId) => `{${prefix}:schedulers:presence:${instanceId}}:dead`,
    inbox: (instanceId) => `${prefix}:streams:{instance:${instanceId}}:inbox`,
    deadLetters: (instanceId) => `${prefix}:streams:{instance:${instanceId}}:dlq`,
    deadLetterTenants: (instanceId) => `${prefix}:streams:{instance:${instanceId}}:dlq_tenants`,
    orphanedDeadLetters: `${v}:schedulers:dlq_orphaned`,
    instanceFigures: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:figures`,
    instanceJobs: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:jobs`,
    instanceSettledJobs: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:jobs_settled`,
    instanceRooms: (instanceId) => `${v}:schedulers:{instance:${instanceId}}:rooms`,
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
