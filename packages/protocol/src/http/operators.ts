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
import { LanguagePair } from '../shared/language-capabilities.ts';
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
    order_reason: optional(text('Reason that the operator gave for cordoning or draining it', 4096)),
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
    private_to: optional(id('The only tenant whose jobs it accepts; absent: all')),
    cpu_percent: optional(quantity('CPU use', { minimum: -1 })),
    gpu_percent: optional(quantity('GPU use', { minimum: -1 })),
    mem_percent: optional(quantity('Main memory use', { minimum: -1 })),
    registered_at_ms: optional(quantity('When it registered (epoch ms)')),
    last_heartbeat_at_ms: optional(
      quantity('When its last heartbeat arrived (epoch ms), by the clock of its instance'),
    ),
    heartbeat_age_ms: optional(quantity('Time since then')),
    outdated: optional(flag('Its instance did not answer: this is what the answering one knew last')),
  },
  { title: 'NodeView', description: 'A node as its instance sees it' },
);
export type NodeView = Static<typeof NodeView>;

const languages = (description: string) => list(label('Language, or `any`'), 10_000, description);
const pairs = (description: string) => list(LanguagePair, 10_000, description);

export const NodeLanguages = Type.Object(
  {
    asr: languages('Languages it recognises'),
    semantic: languages('Languages whose texts it repairs'),
    tts: languages('Languages it speaks'),
    nmt_sources: languages('Languages it translates from'),
    nmt_targets: languages('Languages it translates to'),
    nmt_blocked: pairs('Directions between these that it does not translate'),
    nmt_pairs: pairs('Further directions that it translates'),
  },
  { title: 'NodeLanguages', description: 'What jobs a node is chosen for, by language' },
);

export const NodeService = Type.Object(
  { service_id: label('Service'), ready: flag('Whether it is ready for jobs') },
  { title: 'NodeService', description: 'An installed service' },
);

export const NodeMark = Type.Object(
  {
    service_id: label('Service that the node reported as missing'),
    phase: oneOf(
      ['marked', 'probation', 'probing'],
      'marked: no jobs that need it; probation: the next job is a trial; probing: the trial runs',
    ),
    until_ms: optional(quantity('When the phase ends (epoch ms); absent: with the next job')),
  },
  { title: 'NodeMark', description: 'A service that the node lacks' },
);

export const NodeAttempt = Type.Object(
  {
    job_id: id('Job'),
    attempt_id: count('Attempt, from 1'),
    outcome: oneOf(['finished', 'failed', 'cancelled'], 'How it ended'),
    reason: optional(label('Error code, if it did not finish')),
    duration_ms: quantity('From the reservation of its slot to its end'),
    ended_at_ms: quantity('When it ended (epoch ms)'),
    instance_id: optional(label('Instance that drove the job and remembers this')),
  },
  { title: 'NodeAttempt', description: 'An ended attempt on the node' },
);
export type NodeAttempt = Static<typeof NodeAttempt>;

export const NodeDetail = Type.Object(
  {
    ...NodeView.properties,
    languages: NodeLanguages,
    installed_types: list(label('Service type'), 64, 'Service types it has, ready or not'),
    services: list(NodeService, 10_000, 'Services it has'),
    features: list(label('Feature'), 64, 'Optional features it has'),
    supports: list(label('Extension'), 64, 'Protocol extensions it supports; none: a legacy node'),
    marks: list(NodeMark, 64, 'Services it reported as missing'),
    recent_attempts: list(
      NodeAttempt,
      1_000,
      'Its last attempts, newest first: each instance remembers the last ten of the jobs that it drove, until it restarts',
    ),
    unreachable: list(id('Instance'), 10_000, 'Instances that did not answer: their attempts are missing'),
  },
  { title: 'NodeDetail', description: 'A node with what it can do and what it did last' },
);
export type NodeDetail = Static<typeof NodeDetail>;

export const NodesReply = Type.Object(
  { nodes: list(NodeView, 1_000, 'Nodes'), next_cursor: nextCursor },
  { title: 'NodesReply', description: 'A page of nodes' },
);
export type NodesReply = Static<typeof NodesReply>;

export const JobsQuery = Type.Object(
  {
    ...pageFields,
    state: optional(label('Only jobs in this state')),
    outcome: optional(label('Only jobs that stand so: waiting, running, finished, failed or cancelled')),
    reason: optional(
      label('Only jobs that failed, were cancelled or wait again for this reason, such as JOB_TIMEOUT'),
    ),
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
  {
    sessions: list(SessionView, 1_000, 'Sessions of this instance, newest first'),
    instance_id: optional(label('This instance, if there are several')),
    next_cursor: nextCursor,
  },
  { title: 'SessionsReply', description: 'A page of sessions' },
);
export type SessionsReply = Static<typeof SessionsReply>;

export const SessionPath = Type.Object(
  { id: id('Session') },
  { title: 'SessionPath', description: 'Names a session' },
);
export type SessionPath = Static<typeof SessionPath>;

export const SessionOrder = Type.Object(
  { reason: optional(text('Reason, for other operators', 4096)) },
  { title: 'SessionOrder', description: "An operator's command for one session" },
);
export type SessionOrder = Static<typeof SessionOrder>;

export const SessionOrderReply = Type.Object(
  {
    ok: Type.Literal(true),
    session_id: id('Session'),
    state: Type.Literal('closing', {
      description: 'Its last outcomes are sent, then session_close_ack, then its connection is closed',
    }),
    instance_id: optional(label('Instance that has it, if there are several')),
  },
  { title: 'SessionOrderReply', description: 'The session ends' },
);
export type SessionOrderReply = Static<typeof SessionOrderReply>;

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
