/**
 * Operators' view of the instances, and their commands for dead letters: messages between instances that could not be
 * handled.
 */
import { type Static, Type } from 'typebox';
import {
  anything,
  count,
  flag,
  id,
  label,
  list,
  oneOf,
  optional,
  quantity,
  text,
} from '../shared/bounded.ts';
import { nextCursor, pageFields } from './path.ts';

export const ClusterStore = Type.Object(
  {
    mode: oneOf(['embedded', 'single', 'sentinel', 'cluster'], 'embedded: one process without Redis'),
    ok: flag('Whether it responds'),
    detail: optional(text('What is wrong with it', 4096)),
    masters: optional(
      list(
        Type.Object({ address: text('Host and port', 512), ok: flag('The connection to it is open') }),
        1_000,
        'The masters that this instance writes to; absent: embedded',
      ),
    ),
  },
  { title: 'ClusterStore', description: 'The store that the instances share' },
);
export type ClusterStore = Static<typeof ClusterStore>;

export const ClusterInstance = Type.Object(
  {
    instance_id: id('Instance'),
    state: oneOf(
      ['self', 'living', 'dead', 'unknown'],
      'self: the instance that answers; dead: not yet taken over; unknown: its presence could not be read in time',
    ),
    incarnation: optional(label('New with every start, and after it was declared dead')),
    started_at_ms: optional(quantity('When its process started (epoch ms)')),
    uptime_ms: optional(quantity('Time since then')),
    hostname: optional(label('Machine')),
    pid: optional(count('Process')),
    version: optional(label('Version of the scheduler')),
    advertise_url: optional(text('Address for other instances', 2048)),
    nodes: optional(count('Nodes it holds that are not offline, over a socket or HTTP; absent: unknown')),
    sessions: optional(count('Sessions it holds; absent: unknown')),
    jobs_in_flight: optional(count('Jobs it drives; absent: unknown')),
    pools_digest: optional(label('Equal for equal pools; absent: unknown, or the fleet has no pools')),
    inbox_messages: optional(count('Messages in its inbox, including pending ones; absent: unknown')),
    inbox_pending: optional(
      count(
        'Messages delivered to it and not confirmed; it confirms handled ones within ten seconds; absent: unknown',
      ),
    ),
    dead_letters: optional(count('Messages that it could not handle; absent: unknown')),
    is_online: optional(
      flag('Whether it lives; this and the next three are for the cluster page of the platform'),
    ),
    uptime_seconds: optional(count('The same as uptime_ms, in seconds; 0: unknown')),
    inbox_length: optional(count('The same as inbox_messages; 0 if unknown')),
    dlq_length: optional(count('The same as dead_letters; 0 if unknown')),
  },
  { title: 'ClusterInstance', description: 'An instance; values that could not be read in time are absent' },
);
export type ClusterInstance = Static<typeof ClusterInstance>;

export const OrphanedLetters = Type.Object(
  { instance_id: id('Instance that is gone'), dead_letters: count('Messages that it could not handle') },
  { title: 'OrphanedLetters', description: 'Dead letters of an instance that is gone' },
);
export type OrphanedLetters = Static<typeof OrphanedLetters>;

export const ClusterNode = Type.Object(
  {
    node_id: id('Node'),
    platform: label('Operating system; empty: unknown'),
    online: flag('Whether it is not offline'),
    status: oneOf(['Ready', 'WarmingUp', 'NotReady'], 'Its health, in the words of the cluster page'),
    cpu_usage: quantity('CPU use in percent; 0: unknown'),
    memory_usage: quantity('Memory use in percent; 0: unknown'),
    gpu_usage: anything('GPU use in percent; null: unknown'),
    current_jobs: count('Slots in use'),
    max_concurrent_jobs: count('Slots'),
    last_heartbeat: quantity('When its last heartbeat came (epoch ms)'),
    services: list(
      Type.Object({
        service_id: label('Service'),
        status: oneOf(['running', 'stopped'], 'Whether it is ready'),
      }),
      10_000,
      'Its services',
    ),
    capabilities: list(
      Type.Object({ service_type: label('Type of service'), ready: flag('Whether it is ready') }),
      1_000,
      'Its types of services',
    ),
  },
  { title: 'ClusterNode', description: 'A node, as the cluster page of the platform reads it' },
);
export type ClusterNode = Static<typeof ClusterNode>;

export const ClusterReply = Type.Object(
  {
    instance_id: id('The instance that answers'),
    store: ClusterStore,
    instances: list(ClusterInstance, 1_000, 'All instances: the one that answers, then by name'),
    orphaned: list(OrphanedLetters, 1_000, 'Dead letters of instances that are gone'),
    warnings: list(text('What needs attention', 4096), 10_000, 'What an operator should check'),
    total_instances: optional(
      count('Number of instances; this and what follows is for the cluster page of the platform'),
    ),
    online_instances: optional(count('Those that live')),
    total_nodes: optional(count('Nodes of all instances that are known')),
    online_nodes: optional(count('Those that are not offline')),
    ready_nodes: optional(count('Those that are ready')),
    total_sessions: optional(count('Sessions of all instances')),
    total_pending: optional(count('Messages of all instances that are delivered and not confirmed')),
    total_dlq: optional(count('Dead letters of all instances, including those that are gone')),
    nodes: optional(list(ClusterNode, 1_000, 'The first nodes by id; GET /api/v1/nodes lists all')),
  },
  { title: 'ClusterReply', description: 'All instances and their store' },
);
export type ClusterReply = Static<typeof ClusterReply>;

const letterId = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}:[0-9]{1,16}-[0-9]{1,16}$',
  named: 'dead letter id',
  expects: 'an id as the list of dead letters shows it',
  description: 'Dead letter: its instance and its message id',
});

export const DeadLetterPath = Type.Object(
  { id: letterId },
  { title: 'DeadLetterPath', description: 'Names a dead letter' },
);
export type DeadLetterPath = Static<typeof DeadLetterPath>;

export const DeadLettersQuery = Type.Object(
  { ...pageFields, instance_id: optional(id('Only dead letters of this instance')) },
  { title: 'DeadLettersQuery', description: 'Which dead letters to list' },
);
export type DeadLettersQuery = Static<typeof DeadLettersQuery>;

const deadLetter = {
  id: letterId,
  instance_id: id('Instance it was for'),
  kind: optional(label('Topic of the message')),
  from: optional(label('Instance that sent it')),
  job_id: optional(id('Job it is about')),
  node_id: optional(id('Node it is about')),
  bytes: count('Size'),
  deliveries: count('How often it was delivered without success'),
  reason: oneOf(['too_many_deliveries'], 'Why it is a dead letter'),
  died_at_ms: quantity('When it became a dead letter (epoch ms)'),
  age_ms: quantity('Time since then'),
};

export const DeadLetterSummary = Type.Object(deadLetter, {
  title: 'DeadLetterSummary',
  description: 'A dead letter in a list, without its body',
});
export type DeadLetterSummary = Static<typeof DeadLetterSummary>;

export const DeadLettersReply = Type.Object(
  {
    letters: list(DeadLetterSummary, 1_000, 'Dead letters by instance, the newest of each first'),
    unreachable: list(id('Instance'), 10_000, 'Instances whose dead letters could not be read in time'),
    next_cursor: nextCursor,
  },
  { title: 'DeadLettersReply', description: 'A page of dead letters' },
);
export type DeadLettersReply = Static<typeof DeadLettersReply>;

export const DeadLetterQuery = Type.Object(
  { raw: optional(flag('Include audio instead of its length')) },
  { title: 'DeadLetterQuery', description: 'How to show a dead letter' },
);
export type DeadLetterQuery = Static<typeof DeadLetterQuery>;

export const DeadLetterView = Type.Object(
  { ...deadLetter, body: anything('Body of the message; audio is replaced by its length') },
  { title: 'DeadLetterView', description: 'A dead letter with its body' },
);
export type DeadLetterView = Static<typeof DeadLetterView>;

export const DeadLetterReplay = Type.Object(
  {},
  { title: 'DeadLetterReplay', description: 'Puts a dead letter back into an inbox' },
);
export type DeadLetterReplay = Static<typeof DeadLetterReplay>;

export const DeadLetterReplayReply = Type.Object(
  { ok: Type.Literal(true), id: letterId, to: id('Instance whose inbox received it') },
  { title: 'DeadLetterReplayReply', description: 'Where the message is now' },
);
export type DeadLetterReplayReply = Static<typeof DeadLetterReplayReply>;

export const DeadLettersPurge = Type.Object(
  {
    instance_id: optional(id('Only dead letters of this instance')),
    older_than_ms: optional(count('Only those older than this')),
    all: optional(flag('All of them; required if no other filter is given')),
  },
  { title: 'DeadLettersPurge', description: 'Which dead letters to remove permanently' },
);
export type DeadLettersPurge = Static<typeof DeadLettersPurge>;

export const DeadLettersPurgeReply = Type.Object(
  {
    ok: Type.Literal(true),
    purged: count('Removed dead letters'),
    done: flag('False: there are more, repeat the request'),
    unreachable: list(id('Instance'), 10_000, 'Instances whose dead letters could not be removed'),
  },
  { title: 'DeadLettersPurgeReply', description: 'What was removed' },
);
export type DeadLettersPurgeReply = Static<typeof DeadLettersPurgeReply>;
