/** Settings of dispatch: how a node is chosen, the times that nest, retries, limits on work in flight. */
import { PRIORITIES } from '../../domain/tenancy.ts';
import { list, optional } from '../compound-setting.ts';
import { boolean, bytes, choice, group, ignored, integer, number, text } from '../setting.ts';

const KB = 1024;
const MB = 1024 * KB;

const languageTag = text({
  default: '',
  pattern: /^[a-z]{2,8}(-[a-z0-9]{2,8})*$/,
  allowed: 'a language such as "en", in lower case',
  doc: '',
});

export const dispatch = {
  sample_k: integer({
    default: 20,
    min: 1,
    max: 1_000,
    aliases: [{ key: 'scheduler.pools.random_sample_size' }],
    doc: 'How many of the nodes that pass every filter are drawn at random before the policy orders them.',
  }),
  candidate_shuffle: boolean({ default: true, doc: 'Breaks ties between equal nodes at random.' }),
  health_filter: choice({
    choices: ['ready'],
    default: 'ready',
    doc: 'Health that a node must have. There is only one filter; the key exists because it is part of the dispatch contract.',
  }),
  assume_any_language: boolean({
    default: true,
    doc: 'A node that declares neither languages nor models serves any language.',
  }),
  max_retry: integer({
    default: 2,
    min: 0,
    max: 10,
    aliases: [{ key: 'scheduler.job_timeout.failover_max_attempts' }],
    doc: 'How often a job is retried on another node; the first attempt does not count.',
  }),
  reserve_timeout_ms: integer({
    default: 800,
    min: 10,
    max: 60_000,
    unit: 'ms',
    doc: 'How long one reserve call may take. After it the outcome is unknown, not "no". No longer than cluster.redis.command_timeout_ms.',
  }),
  ack_timeout_ms: integer({
    default: 3_000,
    min: 20,
    max: 300_000,
    unit: 'ms',
    doc: 'How long a node may take to acknowledge a job before the job is retried on another node.',
  }),
  reservation_ttl_ms: integer({
    default: 5_000,
    min: 30,
    max: 600_000,
    unit: 'ms',
    aliases: [{ key: 'scheduler.task_binding.reserved_ttl_seconds', scale: 1_000 }],
    doc: 'How long a slot stays reserved for a job that is not acknowledged yet.',
  }),
  job_timeout_seconds: number({
    default: 60,
    min: 0.05,
    max: 3_600,
    unit: 'seconds',
    doc: 'How long a node may take for a job, counted from the dispatch, including the queue of the node; see docs/operations.md, legacy nodes.',
  }),
  job_deadline_ms: integer({
    default: 90_000,
    min: 200,
    max: 7_200_000,
    unit: 'ms',
    doc: 'When a job ends at the latest, counted from its acceptance, including waiting and all attempts.',
  }),
  pending_timeout_ms: integer({
    default: 10_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    aliases: [{ key: 'scheduler.job_timeout.pending_timeout_seconds', scale: 1_000 }],
    doc: 'How long a job of a session waits for a free slot.',
  }),
  pivot_languages: list({
    default: ['en', 'es', 'fr', 'de', 'zh', 'ru', 'ar'],
    of: languageTag,
    doc: 'Languages through which a text may be translated if no node translates it directly, preferred first. Only for requests and sessions with several target languages, and for those that no single node can serve.',
  }),
  fleet_warmup_ms: integer({
    default: 10_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    doc: 'For how long after a start a job that may wait is not refused because no node can do it: legacy nodes reconnect after 5 s.',
  }),
  heartbeat_interval_seconds: number({
    default: 2,
    min: 0.1,
    max: 60,
    unit: 'seconds',
    doc: 'How often an instance renews its presence. It counts as dead after twice that.',
  }),
  heartbeat_stale_ms: optional(
    integer({
      default: 0,
      min: 100,
      max: 3_600_000,
      unit: 'ms',
      doc: 'Age at which a heartbeat of a node is stale. Unset: three times the interval that was sent to the node.',
    }),
  ),
  max_concurrent_jobs_per_node: integer({
    default: 4,
    min: 1,
    max: 1_024,
    doc: 'Slots of a node that does not declare them. Legacy nodes: see legacy_node_slots.',
  }),
  legacy_node_slots: integer({
    default: 2,
    min: 1,
    max: 1_024,
    doc: 'Slots of every legacy node, whatever it declares. Its GPU works on one job at a time, and the second one is ready when the first ends. With four at a time such a node loses sentences.',
  }),
  node_reconnect_grace_ms: integer({
    default: 2_000,
    min: 0,
    max: 60_000,
    unit: 'ms',
    doc: 'How long a node that lost its socket may take to reconnect before its jobs are retried. Legacy nodes get no such time.',
  }),
  max_inflight_jobs: integer({
    default: 100_000,
    min: 1,
    max: 10_000_000,
    doc: 'Jobs that one instance drives at a time; above it new ones are refused. Jobs that it takes over from a dead instance are added on top.',
  }),
  max_nodes: integer({ default: 200_000, min: 1, max: 10_000_000, doc: 'Nodes that may be registered.' }),
  job_retention_ms: integer({
    default: 300_000,
    min: 0,
    max: 86_400_000,
    unit: 'ms',
    doc: 'How long a finished job can still be read.',
  }),
  job_retention_max_bytes: bytes({
    default: 256 * MB,
    min: MB,
    max: 1024 * 1024 * MB,
    doc: 'Bytes of finished jobs that are kept; the oldest are dropped first.',
  }),
  job_retention_max_count: integer({
    default: 100_000,
    min: 1,
    max: 10_000_000,
    doc: 'Finished jobs that are kept; the oldest are dropped first.',
  }),
  result_inline_max_bytes: bytes({
    default: 512 * KB,
    min: 0,
    max: 64 * MB,
    doc: 'Longest speech that is stored with its result. Above it the text is delivered without speech.',
  }),
};

export const selection = group('How a node is chosen among those that can do a job.', {
  policy: choice({
    choices: ['weighted_random', 'least_loaded', 'fastest'],
    default: 'weighted_random',
    doc: 'At random, weighted by free slots; the least loaded of the sample; or the node that probably finishes first, by its last jobs. The first needs no history and avoids that all instances choose the same node by old loads.',
  }),
});

export const retryBudget = group('Keeps retries from multiplying an outage.', {
  percent: number({
    default: 20,
    min: 0,
    max: 100,
    unit: 'percent',
    doc: 'Retries allowed per admitted job, in the long run.',
  }),
  burst: integer({ default: 100, min: 0, max: 1_000_000, doc: 'Retries that may be saved up.' }),
});

export const ejection = group('Excludes nodes that fail too often for a while.', {
  window_ms: integer({
    default: 30_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    doc: 'Time over which failures are counted.',
  }),
  min_samples: integer({
    default: 5,
    min: 1,
    max: 10_000,
    doc: 'Outcomes in the window before a node is judged.',
  }),
  failure_percent: number({
    default: 50,
    min: 1,
    max: 100,
    unit: 'percent',
    doc: 'Share of failures that ejects a node.',
  }),
  base_ms: integer({
    default: 10_000,
    min: 10,
    max: 3_600_000,
    unit: 'ms',
    doc: 'Length of the first ejection; each further one doubles it.',
  }),
  max_ms: integer({
    default: 300_000,
    min: 10,
    max: 86_400_000,
    unit: 'ms',
    doc: 'Longest ejection.',
  }),
  max_ejected_percent: number({
    default: 50,
    min: 0,
    max: 100,
    unit: 'percent',
    doc: 'If more nodes than this would be ejected, none is.',
  }),
});

export const queue = group('Jobs that wait for a free slot.', {
  max_waiting: integer({ default: 10_000, min: 0, max: 10_000_000, doc: 'Waiting jobs in total.' }),
  max_waiting_per_tenant: integer({
    default: 2_000,
    min: 0,
    max: 10_000_000,
    doc: 'Waiting jobs of one tenant, over all instances: each instance grants its share (see tenant_limits).',
  }),
  refuse_late: boolean({
    default: true,
    doc: 'Refuses a job at once, instead of after its wait, if it would probably get its slot too late: see [overload](placement.md#overload).',
  }),
});

export const hedge = group(
  'A second attempt on another node for a job whose first takes much longer than its node usually needs: see [hedging](placement.md#hedging).',
  {
    classes: list({
      of: choice({ choices: PRIORITIES, default: 'normal', doc: '' }),
      default: [],
      doc: 'Only jobs of tenants with these priorities get a hedge. Empty: none.',
    }),
    overdue_factor: number({
      default: 2,
      min: 1.5,
      max: 100,
      doc: 'An attempt is overdue after this many times the time that its node usually needs for a job of this length.',
    }),
    budget_percent: number({
      default: 1,
      min: 0,
      max: 20,
      unit: 'percent',
      doc: 'Hedges, as a share of all attempts. Beyond it a job waits for its first attempt.',
    }),
    without_cancel: boolean({
      default: false,
      doc: 'Also with nodes that do not declare cancel_ack: these probably finish both attempts.',
    }),
  },
);

export const declarations = group(
  'How much nodes may declare: languages, directions, services and models need memory, estimated in bytes. Equal reports of one fleet count once.',
  {
    max_node_bytes: bytes({
      default: 8 * MB,
      min: 64 * KB,
      max: 1024 * MB,
      doc: 'Of one node. Above it a registration is refused, and a heartbeat does not change what the node declared. A node with 200 languages any to any needs about 0.4 MB.',
    }),
    max_bytes: optional(
      bytes({
        default: 0,
        min: MB,
        max: 1024 * 1024 * MB,
        doc: 'Of all nodes, those of other instances included. Above it registrations are refused with RATE_LIMITED, and nodes of other instances are not used. Unset: two fifths of the heap of the process.',
      }),
    ),
    max_credential_percent: number({
      default: 50,
      min: 1,
      max: 100,
      unit: 'percent',
      doc: 'Share of max_bytes and of max_nodes that the nodes of one token may use (without a token: of one address). Above it their registrations are refused with RATE_LIMITED.',
    }),
  },
);

export const mailbox = group('Jobs that wait for a node that pulls them.', {
  max_jobs: integer({ default: 64, min: 1, max: 10_000, doc: 'Jobs in the mailbox of one node.' }),
});

export const jobTimeout = group('What happens when a job times out.', {
  scan_interval_ms: ignored('Every job has its own timer; nothing is scanned.'),
  send_cancel: boolean({
    default: true,
    doc: 'Cancels a job on its node when its last attempt timed out. A job that is retried is always cancelled on the previous node.',
  }),
});
