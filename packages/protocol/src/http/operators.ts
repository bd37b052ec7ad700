/** What operators see and do: lists of nodes and jobs; cordon, uncordon, drain. */
import { type Static, Type } from 'typebox';
import { count, flag, id, label, list, oneOf, optional, quantity, text } from '../shared/bounded.ts';
import { nodeStatus } from '../shared/node-status.ts';
import { jobSummary } from './job.ts';
import { nextCursor, pageFields } from './path.ts';

export const NodesQuery = Type.Object(
  { ...pageFields, status: optional(label('Only nodes in this state')) },
  { title: 'NodesQuery', description: 'Which nodes to list' },
);
export type NodesQuery = Static<typeof NodesQuery>;

export const NodeView = Type.Object(
  {
    node_id: id('Node'),
    status: nodeStatus(),
    cordoned: flag('Gets no new jobs because an operator said so'),
    reason: optional(text('Why it is in this state', 4096)),
    version: optional(label('Version of the node program')),
    platform: optional(label('Operating system')),
    region: optional(label('Region')),
    zone: optional(label('Zone')),
    delivery: oneOf(['socket', 'endpoint', 'pull'], 'How its jobs reach the node'),
    instance_id: optional(label('Instance that holds its connection')),
    generation: optional(count('Number of its registration')),
    used_slots: count('Slots taken'),
    max_concurrent_jobs: count('Slots it has'),
    ready_types: list(label('Service type'), 64, 'Service types that are ready'),
    accept_public_jobs: optional(flag('Takes jobs of everyone')),
    cpu_percent: optional(quantity('CPU use', { minimum: -1 })),
    gpu_percent: optional(quantity('GPU use', { minimum: -1 })),
    mem_percent: optional(quantity('Main memory use', { minimum: -1 })),
    registered_at_ms: optional(quantity('When it registered (epoch ms)')),
    last_heartbeat_at_ms: optional(quantity('When it was last heard (epoch ms)')),
  },
  { title: 'NodeView', description: 'A node as the scheduler sees it' },
);
export type NodeView = Static<typeof NodeView>;

export const NodesReply = Type.Object(
  { nodes: list(NodeView, 1_000, 'Nodes'), next_cursor: nextCursor },
  { title: 'NodesReply', description: 'A page of nodes' },
);
export type NodesReply = Static<typeof NodesReply>;

export const JobsQuery = Type.Object(
  {
    ...pageFields,
    state: optional(label('Only jobs in this state')),
    node_id: optional(id('Only jobs of this node')),
    session_id: optional(id('Only jobs of this session')),
    tenant_id: optional(id('Only jobs of this tenant')),
  },
  { title: 'JobsQuery', description: 'Which jobs to list' },
);
export type JobsQuery = Static<typeof JobsQuery>;

export const JobSummary = Type.Object(jobSummary, { title: 'JobSummary', description: 'A job in a list' });
export type JobSummary = Static<typeof JobSummary>;

export const JobsReply = Type.Object(
  { jobs: list(JobSummary, 1_000, 'Jobs, newest first'), next_cursor: nextCursor },
  { title: 'JobsReply', description: 'A page of jobs' },
);
export type JobsReply = Static<typeof JobsReply>;

export const NodeOrder = Type.Object(
  { reason: optional(text('Why, for others to read', 4096)) },
  { title: 'NodeOrder', description: 'An order of an operator to one node' },
);
export type NodeOrder = Static<typeof NodeOrder>;

export const NodeOrderReply = Type.Object(
  {
    ok: Type.Literal(true),
    node_id: id('Node'),
    status: nodeStatus(),
    cordoned: flag('Gets no new jobs'),
    running_jobs: optional(count('Jobs still with the node')),
  },
  { title: 'NodeOrderReply', description: 'State of the node after the order' },
);
export type NodeOrderReply = Static<typeof NodeOrderReply>;
