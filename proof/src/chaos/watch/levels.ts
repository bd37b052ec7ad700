/**
 * What an instance reports at /metrics that must stay bounded, and its limit. Pure. Limits are those of the configuration, or else
 * what the description of the metric promises.
 */
import type { Config } from '../../../../packages/scheduler/dist/config/settings.js';

export interface Level {
  readonly gauge: string;
  /** Not a number: it should have been reported, and was not. */
  readonly value: number;
  readonly limit: number;
  /** How much may be left at rest; absent: anything within the limit. */
  readonly atRest?: number;
}

interface Rule {
  readonly gauge: string;
  readonly limit: (config: Config) => number;
  readonly atRest?: 0;
  /** It may take as long as a job until it is at rest. */
  readonly restsLate?: true;
  /** Reported only after its first value. */
  readonly isLate?: true;
}

const none = { atRest: 0 } as const;

/** What it takes over, from a dead instance or from its own previous incarnation, is added to what it admits: as many again. */
const mostDriven = ({ scheduler }: Config): number => 2 * scheduler.max_inflight_jobs;

const OF_EVERYBODY: readonly Rule[] = [
  { gauge: 'scheduler_jobs_inflight', limit: mostDriven, ...none },
  // Retries wait, however full the queue is.
  { gauge: 'scheduler_jobs_waiting', limit: mostDriven, ...none },
  { gauge: 'scheduler_utterances_running', limit: ({ scheduler }) => scheduler.max_inflight_jobs, ...none },
  // Audio of a repeated request is kept until the deadline of its job: another attempt may need it.
  {
    gauge: 'scheduler_audio_store_bytes',
    limit: ({ scheduler }) => scheduler.audio.max_bytes_total,
    restsLate: true,
    ...none,
  },
  { gauge: 'scheduler_jobs_retained', limit: ({ scheduler }) => scheduler.job_retention_max_count },
  { gauge: 'scheduler_jobs_retained_bytes', limit: ({ scheduler }) => scheduler.job_retention_max_bytes },
  { gauge: 'scheduler_request_bindings', limit: ({ scheduler }) => scheduler.task_binding.max_bindings },
  { gauge: 'scheduler_nodes', limit: ({ scheduler }) => scheduler.max_nodes },
  { gauge: 'scheduler_sessions', limit: ({ session }) => session.max_sessions },
  { gauge: 'scheduler_session_result_bytes', limit: ({ session }) => session.max_result_bytes_total },
  { gauge: 'scheduler_connections', limit: ({ server }) => server.limits.max_connections, isLate: true },
  {
    gauge: 'scheduler_http_connections{state="idle"}',
    limit: ({ server }) => server.limits.max_idle_connections,
    isLate: true,
  },
  // By default the limit depends on the heap of the instance, which reports it as a level of its own.
  {
    gauge: 'scheduler_declared_bytes{of="fleet"}',
    limit: ({ scheduler }) => scheduler.declarations.max_bytes ?? Number.MAX_SAFE_INTEGER,
    isLate: true,
  },
  { gauge: 'scheduler_rooms', limit: ({ rooms }) => rooms.max_per_tenant, ...none },
  { gauge: 'scheduler_room_members', limit: ({ rooms }) => rooms.max_members, ...none },
  { gauge: 'scheduler_job_listeners', limit: () => 20_000, ...none },
  { gauge: 'scheduler_http_waits', limit: () => 10_000 },
  { gauge: 'scheduler_tenants_known', limit: () => 40_000 },
];

const OF_ONE_ALONE: readonly Rule[] = [
  {
    gauge: 'scheduler_mailbox_jobs{of="fullest"}',
    limit: ({ scheduler }) => scheduler.mailbox.max_jobs,
    ...none,
  },
];

const OF_MANY: readonly Rule[] = [
  { gauge: 'scheduler_pending_node_reports', limit: () => 10_000, ...none },
  // Nodes report at rest, too, on any instance: a message that is never handled stays in its inbox, which is checked in the store.
  { gauge: 'scheduler_cluster_messages_in_progress', limit: () => 1_024 },
  {
    gauge: 'scheduler_phase2_inbox_pending',
    limit: ({ scheduler }) => scheduler.cluster.stream_maxlen,
    isLate: true,
  },
  { gauge: 'scheduler_instance_backlog{of="takeovers"}', limit: () => 10_000, ...none },
  { gauge: 'scheduler_instance_backlog{of="audio_offers"}', limit: () => 10_000 },
  { gauge: 'scheduler_instance_backlog{of="drivers"}', limit: () => 50_000 },
  { gauge: 'scheduler_replica_nodes{of="others"}', limit: ({ scheduler }) => scheduler.max_nodes },
];

/** Their names, to check that none is missing. */
export const LEVELS: readonly string[] = [...OF_EVERYBODY, ...OF_ONE_ALONE, ...OF_MANY].map(
  ({ gauge }) => gauge,
);

/** Per metric; beyond it everything is counted under the label value `other`. */
const MOST_LABEL_SETS = 251;

/** `isPatient`: levels that come to rest late are waited for, and judged. */
export function levelsIn(text: string, config: Config, isPatient: boolean): Level[] {
  const { reported, sets } = seriesIn(text);
  const rules = [...OF_EVERYBODY, ...(config.scheduler.cluster.enabled ? OF_MANY : OF_ONE_ALONE)];
  const named = rules.flatMap(({ gauge, limit, atRest, restsLate, isLate }): Level[] => {
    const value = reported.get(gauge);
    if (value === undefined && isLate === true) return [];
    return [
      {
        gauge,
        value: value ?? Number.NaN,
        limit: limit(config),
        ...(atRest !== undefined && (isPatient || restsLate !== true) && { atRest }),
      },
    ];
  });
  const most = Math.max(0, ...sets.values());
  return [...named, { gauge: 'label sets of the widest metric', value: most, limit: MOST_LABEL_SETS }];
}

/** By name, summed over labels, and each by name and labels; and how many label sets each name has. */
function seriesIn(text: string): {
  readonly reported: ReadonlyMap<string, number>;
  readonly sets: ReadonlyMap<string, number>;
} {
  const [reported, sets] = [new Map<string, number>(), new Map<string, number>()];
  const add = (to: Map<string, number>, name: string, value: number): void =>
    void to.set(name, (to.get(name) ?? 0) + value);
  for (const line of text.split('\n')) {
    const [, name, labels, value] = /^([a-z0-9_]+)(\{.*\})? (\S+)$/i.exec(line) ?? [];
    if (name === undefined) continue;
    add(reported, name, Number(value));
    if (labels !== undefined) add(reported, `${name}${labels}`, Number(value));
    // Series of a histogram have another suffix.
    if (!name.endsWith('_bucket')) add(sets, name, 1);
  }
  return { reported, sets };
}
