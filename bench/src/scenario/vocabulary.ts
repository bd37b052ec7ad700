/** What scenarios may measure, against which peers, and the resulting figures. */

export const MEASURES = ['decisions', 'jobs', 'requests', 'sessions'] as const;
export type Measure = (typeof MEASURES)[number];

/** `limit`: does less than a scheduler must, and so shows what is possible at all. */
export const PEERS = {
  naive: { title: 'naive scheduler', isLimit: false, measures: ['decisions', 'jobs'] },
  bullmq: { title: 'BullMQ', isLimit: false, measures: ['jobs'] },
  evalsha: { title: 'reserve script alone', isLimit: true, measures: ['jobs'] },
  fastify: { title: 'bare Fastify', isLimit: true, measures: ['requests'] },
  echo: { title: 'bare ws echo', isLimit: true, measures: ['sessions'] },
} as const satisfies Record<string, { title: string; isLimit: boolean; measures: readonly Measure[] }>;
export type Peer = keyof typeof PEERS;
export const PEER_NAMES = Object.keys(PEERS) as Peer[];

export const OURS = 'scheduler';
export type Who = typeof OURS | Peer;
export const titleOf = (who: Who): string => (who === OURS ? OURS : PEERS[who].title);

interface FigureKind {
  readonly title: string;
  readonly unit: string;
  readonly measures: readonly Measure[];
}

const LOADED = ['jobs', 'requests', 'sessions'] as const;

export const FIGURES = {
  decision_cpu_us: { title: 'CPU per decision', unit: 'µs', measures: ['decisions'] },
  heartbeat_cpu_us: { title: 'CPU per heartbeat', unit: 'µs', measures: ['decisions'] },
  dispatch_p50_ms: { title: 'due → with a node, p50', unit: 'ms', measures: LOADED },
  dispatch_p99_ms: { title: 'due → with a node, p99', unit: 'ms', measures: LOADED },
  dispatch_p999_ms: { title: 'due → with a node, p99.9', unit: 'ms', measures: LOADED },
  answer_p50_ms: { title: 'due → answered, p50', unit: 'ms', measures: ['requests'] },
  answer_p99_ms: { title: 'due → answered, p99', unit: 'ms', measures: ['requests'] },
  refused_percent: { title: 'refused', unit: '%', measures: LOADED },
  flood_per_second: { title: 'as fast as they end', unit: '/s', measures: ['jobs'] },
  saturation_per_second: { title: 'saturation', unit: '/s', measures: LOADED },
  cpu_us: { title: 'CPU per job, all instances', unit: 'µs', measures: LOADED },
  redis_cpu_us: { title: 'CPU of redis-server per job', unit: 'µs', measures: ['jobs', 'requests'] },
  all_cpu_us: { title: 'CPU per job, with redis-server', unit: 'µs', measures: ['jobs'] },
  redis_commands: { title: 'Redis commands per job', unit: '', measures: ['requests'] },
  kb_per_session: { title: 'memory (RSS) per session', unit: 'KB', measures: ['sessions'] },
  cpu_us_per_session: { title: 'CPU per session and second', unit: 'µs', measures: ['sessions'] },
  gc_p999_ms: { title: 'garbage collection pause, p99.9', unit: 'ms', measures: LOADED },
  gc_max_ms: { title: 'garbage collection pause, longest', unit: 'ms', measures: LOADED },
  loop_p999_ms: { title: 'event loop stall, p99.9', unit: 'ms', measures: LOADED },
  loop_max_ms: { title: 'event loop stall, longest', unit: 'ms', measures: LOADED },
  loop_own_p999_ms: { title: 'stall by its own work, p99.9', unit: 'ms', measures: LOADED },
  loop_own_max_ms: { title: 'stall by its own work, longest', unit: 'ms', measures: LOADED },
} as const satisfies Record<string, FigureKind>;
export type FigureId = keyof typeof FIGURES;
export const FIGURE_IDS = Object.keys(FIGURES) as FigureId[];

export type Figures = Partial<Record<FigureId, number>>;

/** What a scenario may vary, to give a curve. */
export const VARIED = {
  nodes: ['decisions', 'jobs'],
  instances: ['requests'],
  sessions: ['sessions'],
} as const satisfies Record<string, readonly Measure[]>;
export type Varied = keyof typeof VARIED;
