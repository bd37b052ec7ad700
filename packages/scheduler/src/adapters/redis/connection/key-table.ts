/** What is behind each key of `../keys.ts`: type, hash slot, expiry, content, and its name in the requirements. Printed to docs/redis-keys.md. */
import type { Keys } from '../keys.ts';

export interface KeyEntry {
  readonly type: 'STRING' | 'HASH' | 'ZSET' | 'SET' | 'STREAM' | 'CHANNEL';
  /** The hash tag that keys of one script share; "own": a key by itself. */
  readonly slot:
    | '{node}'
    | '{job}'
    | '{session}'
    | '{room}'
    | '{tenant}'
    | '{instance}'
    | '{presence}'
    | 'own';
  /** A channel has none. */
  readonly expires?: string;
  readonly content: string;
  /** The name that the requirements gave it, where it differs, and why. */
  readonly required?: { readonly name: string; readonly why: string };
}

const ONE_SLOT =
  'the hash tag puts all keys of a node into one slot, so that a script can change them together';

export const KEY_TABLE: Readonly<Record<keyof Keys, KeyEntry>> = {
  schema: {
    type: 'STRING',
    slot: 'own',
    expires: 'never',
    content: 'The schema version of the keys.',
  },
  payloadKey: {
    type: 'STRING',
    slot: 'own',
    expires: 'never',
    content:
      '"id fingerprint" of the key with which texts are sealed (scheduler.cluster.payload_key_file); absent: nothing is sealed.',
  },
  nodeMeta: {
    type: 'HASH',
    slot: '{node}',
    expires: '1 h or more after the last report; of a forgotten node, 1 h with the generation alone',
    content: 'slots, accepting, reported, released, generation, credential',
    required: { name: 'sched:node:{node_id}:meta', why: `one prefix for all keys, and ${ONE_SLOT}` },
  },
  nodeOrders: {
    type: 'STRING',
    slot: '{node}',
    expires: '30 d after the last registration, or with an uncordon',
    content: 'What operators ordered for the node, as JSON: cordoned, drained, reason',
  },
  nodeLeases: {
    type: 'ZSET',
    slot: '{node}',
    expires: 'with the node',
    content: '"job:attempt" → expiry of the lease (ms, server time)',
    required: {
      name: 'v1:nodes:jobs:<node_id>, sched:node:{node_id}:cap, sched:resv:{resv_id}',
      why: 'a counter leaks a slot if its owner dies; a lease with an expiry does not, and the number of slots in use is the number of leases',
    },
  },
  nodeLeaseMarks: {
    type: 'HASH',
    slot: '{node}',
    expires: 'with the leases',
    content:
      '"a:job:attempt" since when abandoned, "t:job:attempt" since when committed (ms), "r:job:attempt" held at the last report',
  },
  nodeCapabilities: {
    type: 'STRING',
    slot: '{node}',
    expires: '1 h; withdrawn, 1 min',
    content: '"generation version region", then the node record with its holder, as JSON',
    required: {
      name: 'v1:nodes:caps:<node_id>, v1:nodes:snapshot:<node_id>',
      why: `${ONE_SLOT}; one value is read and compared at once, fields are not`,
    },
  },
  nodePresence: {
    type: 'STRING',
    slot: '{node}',
    expires: "3 × the node's interval",
    content: '"ts=<ms>;region=<region>"',
    required: { name: 'v1:nodes:presence:<node_id>', why: ONE_SLOT },
  },
  nodeOwner: {
    type: 'STRING',
    slot: '{node}',
    expires: '1 h',
    content: 'Name of the instance that holds the node, for operators; written with its capabilities.',
  },
  nodeMailbox: {
    type: 'ZSET',
    slot: '{node}',
    expires: 'until fetched or expired',
    content: '"expiry:job" of the entries for a node that polls → position',
  },
  nodeMailboxBodies: {
    type: 'HASH',
    slot: '{node}',
    expires: 'with the mailbox',
    content: 'job → its assignment, as JSON',
  },
  nodeArrivals: {
    type: 'CHANNEL',
    slot: '{node}',
    content: 'Notice that an entry was put into the mailbox; empty.',
  },
  job: {
    type: 'HASH',
    slot: '{job}',
    expires: 'deadline and a margin, then retention',
    content: 'The record of a job, and the binding of its request.',
    required: {
      name: 'v1:requests:binding:<request_id>, v1:requests:lock:<request_id> beside v1:jobs:{job:<job_id>}:fsm',
      why: 'the tag of a job with a request id is derived from the request, so that job and binding are one key: one script writes both, and no lock is needed',
    },
  },
  earlierJob: {
    type: 'HASH',
    slot: '{job}',
    expires: 'retention',
    content: 'A settled job whose request was bound to another job.',
  },
  sessionOwner: {
    type: 'STRING',
    slot: '{session}',
    expires: 'with the state',
    content: '"instance/incarnation" of the owner of the session',
  },
  sessionState: {
    type: 'HASH',
    slot: '{session}',
    expires: 'renewed while its client is connected, then resume TTL',
    content: 'What another instance needs to continue the session: revision, body.',
    required: {
      name: 'v1:sessions:bind:<session_id>',
      why: 'a session is not bound to a node: every job of it chooses one, and the lease of an attempt is with the node',
    },
  },
  roomLog: {
    type: 'HASH',
    slot: '{room}',
    expires: 'without an append for as long as entries are kept; after the end of the room for its retention',
    content:
      'What was said in a room: first, last, seq, count, ttl; position → when, number, speaker, key; b<position> → body; key → position; e<number> → 1 if it was erased.',
  },
  roomFollowers: {
    type: 'SET',
    slot: '{room}',
    expires: 'with its last follower, at the latest 30 days after the last write in the room',
    content: 'Instances that have members in the room, or readers of its captions: "instance/incarnation".',
  },
  roomRecord: {
    type: 'HASH',
    slot: '{room}',
    expires: 'without a change or a renewal',
    content: 'Members and settings of a room: version, change, body.',
  },
  roomCodes: {
    type: 'HASH',
    slot: '{tenant}',
    expires: 'with the last code that is not renewed; bounded by the rooms of a tenant',
    content: 'Code → "until room": until when (ms) it names the room.',
  },
  roomsEnded: {
    type: 'ZSET',
    slot: '{tenant}',
    expires: 'with the log that is kept longest; at most 10,000 of a tenant',
    content: 'Recorded rooms that have ended → until when (ms) their logs are kept.',
  },
  usageHour: {
    type: 'HASH',
    slot: '{tenant}',
    expires: 'usage_retention_days',
    content: 'What a tenant used in one hour: "stage language unit" → amount.',
  },
  usageDay: {
    type: 'HASH',
    slot: '{tenant}',
    expires: '62 days',
    content: 'What a tenant used on one day: "stage unit" → amount, and jobs.',
  },
  usageMonth: {
    type: 'HASH',
    slot: '{tenant}',
    expires: '62 days',
    content: 'The same for one month.',
  },
  usageCounted: {
    type: 'ZSET',
    slot: '{tenant}',
    expires: '15 min',
    content: 'Jobs that were counted → when (ms), so that none counts twice.',
  },
  usageTenants: {
    type: 'ZSET',
    slot: 'own',
    expires: 'never; bounded by usage_retention_days',
    content: 'Tenants that used something → the last hour in which they did.',
  },
  glossaries: {
    type: 'HASH',
    slot: '{tenant}',
    expires: 'never; at most 50 of a tenant',
    content: 'Glossaries of a tenant: id → terms, as JSON, perhaps sealed.',
  },
  presence: {
    type: 'HASH',
    slot: 'own',
    expires: 'presence TTL',
    content: 'An instance is alive under this name while the key exists.',
  },
  death: {
    type: 'STRING',
    slot: '{presence}',
    expires: '10 min',
    content: 'The name was declared dead, or its instance has left.',
  },
  inbox: {
    type: 'STREAM',
    slot: '{instance}',
    expires: 'until taken over, at the latest 1 h after it was last opened',
    content: 'Messages to the instance.',
  },
  deadLetters: {
    type: 'STREAM',
    slot: '{instance}',
    expires: 'bounded; a week after its instance was removed',
    content: 'Messages that could not be handled.',
  },
  deadLetterTenants: {
    type: 'ZSET',
    slot: '{instance}',
    expires: 'with its dead letters',
    content: 'Whose each of its dead letters is.',
  },
  orphanedDeadLetters: {
    type: 'ZSET',
    slot: 'own',
    expires: 'bounded',
    content: 'Removed instances that left dead letters → until when those are kept (ms).',
  },
  instanceFigures: {
    type: 'STRING',
    slot: '{instance}',
    expires: 'a few seconds',
    content: 'Figures of its work: "nodes sessions jobs".',
  },
  instanceJobs: {
    type: 'ZSET',
    slot: '{instance}',
    expires: 'until taken over, or the last deadline',
    content: 'Jobs that it drives → deadline.',
  },
  instanceSettledJobs: {
    type: 'ZSET',
    slot: '{instance}',
    expires: 'retention; bounded',
    content: 'Jobs that it settled recently → deadline.',
  },
  instanceRooms: {
    type: 'SET',
    slot: '{instance}',
    expires: 'until left or taken over',
    content: 'Rooms that it follows: "incarnation/room".',
  },
  instanceMoves: {
    type: 'CHANNEL',
    slot: '{instance}',
    content: 'Ids of jobs that moved and have a subscriber on this instance.',
    required: {
      name: 'v1:events:*',
      why: 'an event goes to the instance that waits for it, not to all',
    },
  },
  instanceHints: {
    type: 'CHANNEL',
    slot: '{instance}',
    content: 'Hints to this instance: partial texts, outcomes of its nodes.',
  },
  commonHints: {
    type: 'CHANNEL',
    slot: 'own',
    content: 'Hints to all instances: loads of nodes.',
  },
  instances: {
    type: 'SET',
    slot: 'own',
    expires: 'never',
    content: 'Every instance that was not yet taken over.',
  },
  statsPart: {
    type: 'STRING',
    slot: '{instance}',
    expires: '15 s',
    content: 'Its part of the statistics, as JSON.',
  },
  statsSnapshot: {
    type: 'STRING',
    slot: 'own',
    expires: '45 s',
    content: 'The statistics of all instances, as JSON.',
  },
  nodesSeen: {
    type: 'ZSET',
    slot: 'own',
    expires: 'never',
    content: 'Node id → last seen (ms).',
    required: {
      name: 'v1:nodes:last_seen, v1:nodes:all, v1:nodes:online:set:<region>',
      why: 'a few parts spread over the masters of a Cluster; times of last sight make a separate set of ids superfluous',
    },
  },
  nodeNotices: {
    type: 'CHANNEL',
    slot: 'own',
    content: 'The node records that changed, as JSON: id, generation, version.',
    required: {
      name: 'v1:index:model:…, v1:index:service:…, sched:pool:{src}:{tgt}:members',
      why: 'each instance keeps the indexes in memory and updates them by these notices, so that choosing a node reads nothing from Redis',
    },
  },
  lock: {
    type: 'STRING',
    slot: 'own',
    expires: 'the time that its task sets',
    content: 'An instance does this task.',
  },
  modelUnavailable: {
    type: 'STRING',
    slot: 'own',
    expires: 'debounce window',
    content: 'An instance handles a service, "id@version", that a node lacks.',
  },
};
