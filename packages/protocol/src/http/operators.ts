/** Operators' lists of nodes, jobs and sessions; and cordon, uncordon, drain. */
import { type Static, Type } from 'typebox';
import {
  count,
  flag,
  id,
  label,
  language,
  list,
  oneOf,
  optional,
  quantity,
  text,
} from '../shared/bounded.ts';
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
    cordoned: flag("Gets no new jobs because of an operator's command"),
    reason: optional(text('Why it is in this state', 4096)),
    version: optional(label('Version of the node program')),
    platform: optional(label('Operating system')),
    region: optional(label('Region')),
    zone: optional(label('Zone')),
    delivery: oneOf(['socket', 'endpoint', 'pull'], 'How jobs reach the node'),
    instance_id: optional(label('Instance that holds its connection')),
    generation: optional(count('Number of its registration')),
    used_slots: count('Slots taken'),
    max_concurrent_jobs: count('Slots it has'),
    ready_types: list(label('Service type'), 64, 'Service types that are ready'),
    unavailable_services: optional(
      list(
        label('Service'),
        64,
        'Services it reported as missing: for some time it gets no jobs that need them',
      ),
    ),
    accept_public_jobs: optional(flag('Accepts jobs of all tenants')),
    cpu_percent: optional(quantity('CPU use', { minimum: -1 })),
    gpu_percent: optional(quantity('GPU use', { minimum: -1 })),
    mem_percent: optional(quantity('Main memory use', { minimum: -1 })),
    registered_at_ms: optional(quantity('When it registered (epoch ms)')),
    last_heartbeat_at_ms: optional(quantity('When its last heartbeat arrived (epoch ms)')),
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

export const SessionsQuery = Type.Object(
  { ...pageFields, tenant_id: optional(id('Only sessions of this tenant')) },
  { title: 'SessionsQuery', description: 'Which sessions to list' },
);
export type SessionsQuery = Static<typeof SessionsQuery>;

export const SessionView = Type.Object(
  {
    session_id: id('Session'),
    tenant_id: id('Tenant'),
    state: oneOf(
      ['open', 'draining', 'closing'],
      'draining: ordered to move to another instance; closing: ends with its last outcome',
    ),
    connected: flag('A client is connected'),
    resumable_until_ms: optional(quantity('Without a client: until when one may resume it (epoch ms)')),
    legacy: flag('A legacy client: it named no extensions'),
    platform: label('Platform of the client'),
    src_lang: language('Source language, or `auto`'),
    tgt_lang: language('Target language'),
    mode: optional(label('How the languages are chosen')),
    lang_a: optional(language('First language of a two-way conversation')),
    lang_b: optional(language('Second language of a two-way conversation')),
    next_utterance_index: count('Position of the next utterance'),
    last_delivery_seq: count('Number of the last sent outcome; 0 before the first'),
    running_utterances: count('Utterances without outcome'),
    pending_results: count('Outcomes held back until an earlier one arrives'),
    kept_results: count('Outcomes that were sent and not acknowledged'),
    audio_bytes: count('Audio held for it'),
    opened_at_ms: quantity('When it was opened (epoch ms)'),
  },
  { title: 'SessionView', description: 'A session as the scheduler sees it, without its texts' },
);
export type SessionView = Static<typeof SessionView>;

export const SessionsReply = Type.Object(
  { sessions: list(SessionView, 1_000, 'Sessions of this instance, newest first'), next_cursor: nextCursor },
  { title: 'SessionsReply', description: 'A page of sessions' },
);
export type SessionsReply = Static<typeof SessionsReply>;

export const NodeOrder = Type.Object(
  { reason: optional(text('Reason, for other operators', 4096)) },
  { title: 'NodeOrder', description: "An operator's command for one node" },
);
export type NodeOrder = Static<typeof NodeOrder>;

export const NodeOrderReply = Type.Object(
  {
    ok: Type.Literal(true),
    node_id: id('Node'),
    status: nodeStatus(),
    cordoned: flag('Gets no new jobs'),
    running_jobs: optional(count('Jobs still on the node')),
  },
  { title: 'NodeOrderReply', description: 'State of the node after the command' },
);
export type NodeOrderReply = Static<typeof NodeOrderReply>;
