/** The live feed of the console, and the figures of the last hour. */
import { type Static, Type } from 'typebox';
import {
  anything,
  count,
  flag,
  id,
  label,
  list,
  map,
  oneOf,
  optional,
  quantity,
  text,
} from '../shared/bounded.ts';
import { TokenQuery } from './path.ts';

/** As in the metric scheduler_stage_seconds. */
export const JOB_STAGES = ['wait', 'select', 'reserve', 'send', 'ack', 'run', 'deliver', 'total'] as const;

export const StageTimes = Type.Object(
  {
    count: count('How often it was measured'),
    p50_ms: quantity('Median, from the buckets of the histogram'),
    p99_ms: quantity('99th percentile'),
  },
  { title: 'StageTimes', description: 'How long a stage of a job took' },
);
export type StageTimes = Static<typeof StageTimes>;

export const FiguresPoint = Type.Object(
  {
    at_ms: quantity('End of the span (epoch ms)'),
    span_ms: quantity('Length of the span'),
    instances: count('Instances whose figures it contains'),
    admitted: count('Jobs accepted in the span'),
    finished: count('Jobs that ended with a result'),
    failed: count('Jobs that failed'),
    cancelled: count('Jobs that were cancelled'),
    retries: count('Attempts after the first'),
    takeovers: count('Dead instances whose jobs another one took over'),
    reports: count('Bad translations that clients reported'),
    refused: map<number>(count('Requests'), 201, 'Requests refused in the span, by error code'),
    in_flight: count('Jobs without outcome, at the end of the span'),
    waiting: count('Jobs that wait for a slot'),
    oldest_wait_ms: quantity('How long the oldest of them has waited; 0 without any'),
    sessions: count('Open sessions'),
    connected: count('Sessions with a connected client'),
    stages: map<StageTimes>(StageTimes, 16, `By stage: ${JOB_STAGES.join(', ')}; absent: not measured`),
  },
  { title: 'FiguresPoint', description: 'The figures of all instances in one span of time' },
);
export type FiguresPoint = Static<typeof FiguresPoint>;

export const LiveInstance = Type.Object(
  {
    instance_id: label('Instance'),
    age_ms: quantity('Time since its last figures'),
    in_flight: count('Jobs that it drives'),
    waiting: count('Jobs that wait for a slot at it'),
    sessions: count('Sessions that it has'),
  },
  { title: 'LiveInstance', description: 'An instance, by the figures that it sent last' },
);
export type LiveInstance = Static<typeof LiveInstance>;

export const ATTENTION_PAGES = [
  'overview',
  'fleet',
  'node',
  'languages',
  'jobs',
  'job',
  'sessions',
  'cluster',
  'tenants',
] as const;

export const Attention = Type.Object(
  {
    id: label('What it is; stable, for translations'),
    severity: oneOf(['critical', 'warning', 'info'], 'How urgent it is'),
    text: text('What happens and what to do, in English', 4096),
    params: map<string | number>(anything('Text or number'), 8, 'The values in the text'),
    runbook: optional(label('Heading of its entry in docs/runbook.md')),
    page: oneOf([...ATTENTION_PAGES], 'Page of the console that shows more'),
    target: optional(label('What that page is about, such as a node')),
  },
  { title: 'Attention', description: 'Something that an operator should look at' },
);
export type Attention = Static<typeof Attention>;

/** The columns of a row of `nodes`, in this order. */
export const LIVE_NODE_COLUMNS = [
  'node_id',
  'status',
  'used',
  'slots',
  'cordoned',
  'ejected',
  'instance_id',
  'region',
  'zone',
  'version',
  'platform',
  'pools',
  'order_reason',
] as const;

const rows = (description: string) =>
  list(list(anything('Value of a column'), LIVE_NODE_COLUMNS.length, 'Row'), 1_000_000, description);
const attention = list(Attention, 100, 'The most urgent first');

export const LiveSnapshot = Type.Object(
  {
    seq: count('Number of this event'),
    at_ms: quantity('When it was made (epoch ms)'),
    instance_id: label('Instance that sends it; empty if there is only one'),
    instances: list(LiveInstance, 1_000, 'Instances'),
    figures: optional(FiguresPoint),
    node_columns: list(label('Column'), LIVE_NODE_COLUMNS.length, 'The columns of `nodes`'),
    nodes: rows('All nodes; unknown texts are empty, `pools` is a list of names'),
    attention,
  },
  { title: 'LiveSnapshot', description: 'Event `snapshot`: everything that a viewer shows' },
);
export type LiveSnapshot = Static<typeof LiveSnapshot>;

export const LiveDelta = Type.Object(
  {
    seq: count('Number of this event'),
    at_ms: quantity('When it was made (epoch ms)'),
    instances: list(LiveInstance, 1_000, 'Instances'),
    figures: optional(FiguresPoint),
    loads: optional(
      list(
        Type.Unsafe<[string, number, number]>({ type: 'array', minItems: 3, maxItems: 3, items: {} }),
        1_000_000,
        'node_id, used, slots: nodes of which nothing else changed',
      ),
    ),
    nodes: optional(rows('New nodes, and nodes of which something else changed')),
    removed: optional(list(id('Node'), 1_000_000, 'Nodes that are gone')),
    attention: optional(attention),
  },
  { title: 'LiveDelta', description: 'Event `delta`, once a second: what changed since the last event' },
);
export type LiveDelta = Static<typeof LiveDelta>;

export const LiveQuery = Type.Object(
  {
    ...TokenQuery.properties,
    once: optional(flag('End the stream after the snapshot')),
  },
  { title: 'LiveQuery', description: 'Options of the live feed' },
);
export type LiveQuery = Static<typeof LiveQuery>;

export const HistoryQuery = Type.Object(
  {
    step: optional(count('Seconds per point: 1 or 10; 10 if absent', { minimum: 1, maximum: 10 })),
    since_ms: optional(quantity('Only points after this time (epoch ms)')),
  },
  { title: 'HistoryQuery', description: 'Which points to read' },
);
export type HistoryQuery = Static<typeof HistoryQuery>;

export const HistoryReply = Type.Object(
  {
    instance_id: label('Instance that kept them; empty if there is only one'),
    step_ms: quantity('Length of each span'),
    points: list(FiguresPoint, 3_600, 'Oldest first, at most the last hour'),
  },
  { title: 'HistoryReply', description: 'Figures of all instances since this one started' },
);
export type HistoryReply = Static<typeof HistoryReply>;
