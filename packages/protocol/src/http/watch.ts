/** What the pages of the console read beside the live feed: searches, one job, languages, tenants and the configuration. */
import { type Static, Type } from 'typebox';
import {
  anyOf,
  anything,
  count,
  flag,
  id,
  label,
  language,
  list,
  map,
  oneOf,
  optional,
  quantity,
  speech,
  text,
} from '../shared/bounded.ts';
import { nodeStatus } from '../shared/node-status.ts';
import { ExplainReply } from './explain.ts';
import { JobView, jobSummary } from './job.ts';
import { JobSummary, SessionView } from './operators.ts';

const instances = (description: string) => list(label('Instance'), 1_000, description);
/** Who answered a question to all instances. */
const answerers = {
  answered: instances('Instances that answered; a single instance has an empty name'),
  unreachable: instances('Instances that did not answer in time: their part is missing'),
};

export const SearchQuery = Type.Object(
  {
    q: optional(
      label('An id or the beginning of one: of a job, request, trace, session, node or tenant; absent: any'),
    ),
    kind: optional(oneOf(['jobs', 'sessions', 'nodes'], 'What to search; absent: all of them')),
    limit: optional(count('Entries of each kind; 20 if absent', { minimum: 1, maximum: 200 })),
    tenant_id: optional(id('Only jobs and sessions of this tenant')),
    session_id: optional(id('Only jobs of this session')),
    node_id: optional(id('Only jobs of this node')),
    outcome: optional(label('Only jobs that stand so: waiting, running, finished, failed or cancelled')),
    reason: optional(label('Only jobs with this reason, such as JOB_TIMEOUT')),
    connected: optional(flag('Only sessions with a connected client, or only those without')),
    status: optional(label('Only nodes in this state')),
    region: optional(label('Only nodes of this region')),
    version: optional(label('Only nodes of this version')),
  },
  { title: 'SearchQuery', description: 'What to search on all instances' },
);
export type SearchQuery = Static<typeof SearchQuery>;

export const FoundSession = Type.Object(
  { ...SessionView.properties, instance_id: label('Instance that has it') },
  { title: 'FoundSession', description: 'A session and where it is' },
);
export type FoundSession = Static<typeof FoundSession>;

export const FoundNode = Type.Object(
  {
    node_id: id('Node'),
    status: nodeStatus(),
    used_slots: count('Slots taken'),
    max_concurrent_jobs: count('Slots it has'),
    cordoned: flag('Gets no new jobs because of an operator’s command'),
    instance_id: label('Instance that holds it'),
    region: label('Region; empty: unknown'),
    version: label('Version of the node program; empty: unknown'),
  },
  { title: 'FoundNode', description: 'A node in short' },
);
export type FoundNode = Static<typeof FoundNode>;

export const SearchReply = Type.Object(
  {
    jobs: list(JobSummary, 200, 'Newest first'),
    sessions: list(FoundSession, 200, 'Newest first'),
    nodes: list(FoundNode, 200, 'By id'),
    ...answerers,
    truncated: flag('There may be more: name more of the id, or filter'),
  },
  { title: 'SearchReply', description: 'What was found' },
);
export type SearchReply = Static<typeof SearchReply>;

export const JobSpan = Type.Object(
  {
    stage: oneOf(
      ['wait', 'attempt', 'send', 'ack', 'run', 'deliver'],
      'wait: for a slot; attempt: on one node, with its stages send, ack and run; deliver: until its turn in the session',
    ),
    attempt_id: optional(count('Attempt')),
    node_id: optional(id('Node')),
    from_ms: quantity('When it began (epoch ms)'),
    to_ms: optional(quantity('When it ended (epoch ms); absent: it has not')),
    ended: optional(text('Why the attempt ended, if it did not finish', 4096)),
  },
  { title: 'JobSpan', description: 'A part of the time of a job' },
);
export type JobSpan = Static<typeof JobSpan>;

export const REPORT_KINDS = ['bad_translation'] as const;

export const ClientReport = Type.Object(
  {
    at_ms: quantity('When it arrived (epoch ms)'),
    kind: label('What it is about'),
    note: optional(speech(text('What the person wrote', 500))),
  },
  { title: 'ClientReport', description: 'A report about a translation' },
);
export type ClientReport = Static<typeof ClientReport>;

export const ReportRequest = Type.Object(
  {
    kind: oneOf([...REPORT_KINDS], 'bad_translation: the translation is wrong or missing'),
    note: optional(text('What is wrong; shown to operators only', 500)),
  },
  { title: 'ReportRequest', description: 'A report about the translation of a job' },
);
export type ReportRequest = Static<typeof ReportRequest>;

export const ReportReply = Type.Object(
  { ok: Type.Literal(true), kept: flag('False: the job has enough reports') },
  { title: 'ReportReply', description: 'The report has arrived' },
);
export type ReportReply = Static<typeof ReportReply>;

export const JobDetail = Type.Object(
  {
    job: JobView,
    spans: list(JobSpan, 1_000, 'On one time axis, by their beginning'),
    choice: optional(ExplainReply),
    reports: list(ClientReport, 1_000, 'What clients reported in the last hour, oldest first'),
  },
  {
    title: 'JobDetail',
    description: 'A job, where its time went, and (`choice`) how an equal job would be placed now',
  },
);
export type JobDetail = Static<typeof JobDetail>;

export const SessionLogEntry = Type.Object(
  {
    at_ms: quantity('When (epoch ms)'),
    kind: anyOf(
      [
        'opened',
        'resumed',
        'disconnected',
        'accepted',
        'partial',
        'delivered',
        'missing',
        'playback_started',
        'playback_ended',
        'backpressure',
        'closed',
      ],
      'What happened; partial: the first recognised text; missing: an outcome without translation',
    ),
    utterance_index: optional(count('Utterance')),
    job_id: optional(id('Job')),
    detail: optional(label('A code or an id, such as why an outcome is missing')),
  },
  { title: 'SessionLogEntry', description: 'Something that happened in a session' },
);
export type SessionLogEntry = Static<typeof SessionLogEntry>;

export const SessionUtterance = Type.Object(
  {
    ...jobSummary,
    spans: list(JobSpan, 1_000, 'Where its time went'),
    has_audio: flag('There is a spoken translation: GET /v1/job/:id/audio'),
    text_asr: optional(speech(text('Recognised text'))),
    text_translated: optional(speech(text('Translated text'))),
  },
  { title: 'SessionUtterance', description: 'An utterance of a session' },
);
export type SessionUtterance = Static<typeof SessionUtterance>;

export const SessionDetail = Type.Object(
  {
    session_id: id('Session'),
    instance_id: optional(label('Instance that has it; absent: it has ended')),
    session: optional(SessionView),
    events: list(SessionLogEntry, 500, 'Oldest first; instances remember the newest ones until they restart'),
    utterances: list(SessionUtterance, 50, 'Its last ones, oldest first'),
    ...answerers,
  },
  { title: 'SessionDetail', description: 'A session as a conversation' },
);
export type SessionDetail = Static<typeof SessionDetail>;

export const LanguageCell = Type.Object(
  {
    src: language('Source language, or `auto`'),
    tgt: language('Target language'),
    nodes: count('Nodes that can do it'),
    ready: count('Of these, nodes that take new jobs: ready, connected, neither cordoned nor ejected'),
    slots: count('Slots of nodes that take jobs'),
    free: count('Free ones of them'),
    text_only: optional(
      flag('No node speaks the target language: the nodes counted here translate into text'),
    ),
    in_flight: count(
      'Jobs without outcome, the waiting ones included; here and in the next two, one of a two-way conversation counts in both directions',
    ),
    waiting: count('Jobs that wait for a slot'),
    refused: count('Requests refused in the last ten minutes'),
    expected_wait_ms: optional(
      quantity('Estimate for the next job; absent: no slot, or no job has ended yet'),
    ),
    one_more_node: optional(
      Type.Object(
        {
          slots: count('Slots of an average node'),
          expected_wait_ms: quantity('The estimate with them'),
        },
        { description: 'What one more node would change' },
      ),
    ),
  },
  { title: 'LanguageCell', description: 'One direction of translation' },
);
export type LanguageCell = Static<typeof LanguageCell>;

export const LanguagesReply = Type.Object(
  {
    at_ms: quantity('When it was counted (epoch ms)'),
    mean_slot_ms: optional(quantity('How long a job keeps its slot; absent: none has ended yet')),
    cells: list(LanguageCell, 10_000, 'Directions with a node, or with jobs or refusals'),
    ...answerers,
    truncated: flag('The fleet has more languages than are shown'),
  },
  { title: 'LanguagesReply', description: 'Supply and demand by language; waits are estimated by Erlang C' },
);
export type LanguagesReply = Static<typeof LanguagesReply>;

export const TenantLine = Type.Object(
  {
    tenant_id: label('Tenant'),
    sessions: count('Open sessions'),
    in_flight: count('Jobs without outcome, the waiting ones included'),
    waiting: count('Jobs that wait for a slot'),
    refused: map<number>(count('Requests'), 250, 'Refused in the last ten minutes, by error code'),
    caps: map<number>(
      quantity('Limit'),
      8,
      'Its limits over all instances: max_sessions, max_inflight_jobs, max_waiting, requests_per_second; absent: none',
    ),
    priority: label('The default and highest priority of its jobs'),
    share: quantity('Its weight among waiting tenants, as a share of the largest'),
  },
  { title: 'TenantLine', description: 'What a tenant uses and may use' },
);
export type TenantLine = Static<typeof TenantLine>;

export const TenantsReply = Type.Object(
  {
    tenants: list(TenantLine, 10_000, 'Configured ones, and those with sessions, jobs or refusals; by name'),
    ...answerers,
  },
  { title: 'TenantsReply', description: 'The tenants of all instances' },
);
export type TenantsReply = Static<typeof TenantsReply>;

export const TakeoverLine = Type.Object(
  {
    instance_id: id('Instance that drove the jobs before'),
    taken_over_by: id('Instance that took them over'),
    cause: oneOf(
      ['died', 'left', 'restarted'],
      'died: its presence ended; left: it was stopped; restarted: it took over its own jobs after a crash',
    ),
    jobs: count('Jobs that it drove and that had no outcome yet'),
    at_ms: quantity('When the takeover ended (epoch ms)'),
  },
  { title: 'TakeoverLine', description: 'A takeover of the jobs of an instance' },
);
export type TakeoverLine = Static<typeof TakeoverLine>;

export const TakeoversReply = Type.Object(
  {
    takeovers: list(
      TakeoverLine,
      1_000,
      'Newest first; each instance remembers its last 50 until it restarts',
    ),
    ...answerers,
  },
  { title: 'TakeoversReply', description: 'What instances took over from others' },
);
export type TakeoversReply = Static<typeof TakeoversReply>;

export const ConfigReply = Type.Object(
  {
    settings: list(
      Type.Object({
        key: label('Setting'),
        value: anything('Value in effect; null: unset; secrets are only "(set)"'),
        origin: text('default, file and line, environment variable or flag', 4096),
        doc: text('What it means', 8192),
      }),
      10_000,
      'In the order of docs/config.md',
    ),
  },
  { title: 'ConfigReply', description: 'The configuration of this instance' },
);
export type ConfigReply = Static<typeof ConfigReply>;

export const ScalingQuery = Type.Object(
  {
    target_wait_ms: optional(
      quantity('Mean wait for a slot that is acceptable; 100 if absent', { minimum: 1, maximum: 3_600_000 }),
    ),
  },
  { title: 'ScalingQuery', description: 'What the fleet should achieve' },
);
export type ScalingQuery = Static<typeof ScalingQuery>;

export const ScalingPool = Type.Object(
  {
    pool_id: count('Number of the pool'),
    pool_name: optional(label('Its name')),
    nodes: count('Nodes that take jobs'),
    slots: count('Their slots'),
    used: count('Slots in use'),
    waiting: count('Jobs that try this pool first and wait'),
    oldest_wait_ms: quantity('How long the oldest of them has waited'),
    refused: count('Refused in the last ten minutes for lack of a slot or a node in this pool'),
    load: optional(
      quantity('Used slots and waiting jobs, as a share of the slots; absent: there is no slot'),
    ),
    wanted_nodes: count('How many nodes the pool should have'),
    drain: list(id('Node'), 100, 'Nodes to drain if there are more'),
  },
  { title: 'ScalingPool', description: 'How large one pool should be' },
);
export type ScalingPool = Static<typeof ScalingPool>;

export const ScalingReply = Type.Object(
  {
    target_wait_ms: quantity('As asked'),
    nodes: count('Nodes that take jobs'),
    slots: count('Their slots'),
    used: count('Slots in use'),
    waiting: count('Jobs that wait for a slot'),
    oldest_wait_ms: quantity('How long the oldest of them has waited'),
    refused: count('Refused in the last ten minutes for lack of a slot, or of any node'),
    load: optional(
      quantity('Used slots and waiting jobs, as a share of the slots; absent: there is no slot'),
    ),
    mean_slot_ms: optional(quantity('How long a job keeps its slot; absent: none has ended yet')),
    expected_wait_ms: optional(quantity('Estimate for the next job; absent: not known')),
    wanted_slots: count('The fewest slots with that wait'),
    wanted_nodes: count(
      'The same in nodes of average size; the largest value of the last five minutes, so that the fleet does not swing',
    ),
    drain: list(id('Node'), 100, 'Nodes to drain if there are more than wanted_nodes: the least used'),
    pools: list(ScalingPool, 1024, 'The same for each pool; empty: there are no pools'),
    ...answerers,
  },
  {
    title: 'ScalingReply',
    description:
      'How large the fleet should be for its present load, by Erlang C: as if every node could do every job',
  },
);
export type ScalingReply = Static<typeof ScalingReply>;
