/** Simulation: the size of the simulated system, and the configuration of its instances. */
import { loadConfig } from '../../../scheduler/dist/config/load-config.js';
import { printFinding } from '../../../scheduler/dist/config/origin.js';
import type { Config } from '../../../scheduler/dist/config/settings.js';
import type { Stage } from '../../../scheduler/dist/domain/stage.js';

export interface Scenario {
  /** 1: a single instance without a store. */
  readonly instances: number;
  /** Shards of the store; each fails on its own. */
  readonly shards: number;
  readonly nodes: number;
  /** Of each node. Legacy nodes declare none: the scheduler is configured with theirs. */
  readonly slots: number;
  readonly speakers: number;
  readonly dispatchers: number;
  /** Nodes besides, each with some stages only. */
  readonly stageNodes: number;
  /** Clients that request several languages over HTTP, with speech or typed text. */
  readonly callers: number;
  /** Speakers whose sessions have several languages. */
  readonly lecturers: number;
  /** How many languages each of their utterances has. */
  readonly targets: number;
  /** Every fourth request of a caller has one language: one job can do all of it, and its text comes before its voice. */
  readonly hasSingles: boolean;
  /** Rooms of each tenant. */
  readonly rooms: number;
  /** Members of each room; the last one only listens, comes late, leaves and comes again. */
  readonly people: number;
  /** Requests of all clients together. */
  readonly perSecond: number;
  /** Chance of each kind of misbehaviour of nodes, per job. */
  readonly badness: number;
  /** Half of the jobs take less, in milliseconds of work. */
  readonly workMs: number;
  /** How many jobs each instance may have in flight. */
  readonly inFlight: number;
  /** How long a slot is reserved for a job (reservation_ttl_ms). */
  readonly reservationMs: number;
  /** When a write counts: when the primary has it, or when a replica has it as well. */
  readonly durability: 'primary' | 'replica';
  /** Hedges as a share of the attempts; 0: none, as in the default settings. */
  readonly hedgePercent: number;
  /** Share of the frozen instances whose clocks stop meanwhile, as on a suspended machine. */
  readonly suspended: number;
  /** Share of them whose machines sleep: their clocks go on, their timers do not. */
  readonly slept: number;
}

export const SCENARIO: Scenario = {
  instances: 3,
  shards: 3,
  nodes: 32,
  slots: 4,
  speakers: 12,
  dispatchers: 24,
  stageNodes: 14,
  callers: 6,
  lecturers: 4,
  targets: 3,
  hasSingles: true,
  rooms: 0,
  people: 5,
  perSecond: 180,
  badness: 0.004,
  workMs: 250,
  // So few that limits are reached: otherwise they would not be tested.
  inFlight: 400,
  reservationMs: 5_000,
  durability: 'primary',
  hedgePercent: 0,
  suspended: 0,
  slept: 0.3,
};

/** Every client wants this many languages, and most nodes have some stages only. */
export const severalLanguages = (targets: number): Partial<Scenario> => ({
  targets,
  hasSingles: false,
  nodes: 16,
  stageNodes: 42,
  speakers: 0,
  dispatchers: 0,
  callers: 24,
  lecturers: 12,
  perSecond: 40,
});
export const MOST_TARGETS = 5;

/** Most clients are in rooms, and most nodes have some stages only. */
export const inRooms = (rooms: number): Partial<Scenario> => ({
  rooms,
  nodes: 8,
  stageNodes: 14,
  speakers: 0,
  dispatchers: 2,
  callers: 2,
  lecturers: 0,
  perSecond: 12,
});
export const MOST_ROOMS = 20;

/** Every job is whole, and has one language. */
export const WITHOUT_STAGES: Partial<Scenario> = { stageNodes: 0, callers: 0, lecturers: 0 };

/** Each tenant is confined to its pool: a job on a node of the other one breaks I10. */
export const TENANTS = ['acme', 'globex'] as const;
export type Tenant = (typeof TENANTS)[number];
/** The service that makes a node a member of the tenant's pool. */
export const serviceOf = (tenant: string): string => `only-${tenant}`;

const PAIRS = [
  ['en', 'zh'],
  ['zh', 'en'],
  ['de', 'en'],
  ['en', 'ja'],
] as const;
export const LANGUAGES = [...new Set(PAIRS.flat())];
/** Those of clients with several languages. Only nodes with some stages know the last ones. */
export const MANY_LANGUAGES = [...LANGUAGES, 'es', 'fr'];
/** The first is the source. */
export const languagesOf = (number: number, targets: number): readonly [string, ...string[]] => {
  const turned = MANY_LANGUAGES.map(
    (_, at) => MANY_LANGUAGES[(number + at) % MANY_LANGUAGES.length] as string,
  );
  return [turned[0] as string, ...turned.slice(1, targets + 1)];
};

/** Neighbours speak different languages; only nodes with some stages know all of them. */
export const roomLanguages = (number: number, { stageNodes }: Scenario): readonly [string, ...string[]] => {
  const all = stageNodes === 0 ? LANGUAGES : MANY_LANGUAGES;
  const first = number % all.length;
  return [...all.slice(first), ...all.slice(0, first)] as [string, ...string[]];
};

/**
 * The nodes of one tenant join stages, and its nodes with all stages take single ones. Those of the other have one stage each, translate only
 * through English, and stand beside nodes that take whole jobs only.
 */
export const STAGES_OF: Readonly<Record<Tenant, readonly (readonly Stage[])[]>> = {
  acme: [['asr', 'semantic'], ['nmt'], ['tts']],
  globex: [['asr'], ['semantic'], ['nmt'], ['tts']],
};

export const pairOf = (number: number): readonly [string, string] => PAIRS[number % PAIRS.length] ?? PAIRS[0];

const pools = TENANTS.map(
  (tenant, at) => `
[[scheduler.pools.pools]]
pool_id = ${at + 1}
name = "${tenant}"
required_services = ["${serviceOf(tenant)}"]
dedicated = true
[[scheduler.pools.tenant_overrides]]
tenant_id = "${tenant}"
pool_id = ${at + 1}
`,
).join('');

/**
 * Longer than a connection stalls before it is closed. The scheduler detects pauses by when audio arrives: after a stall of a second
 * it would end a sentence, rightly, and the speaker of this simulation would take that for lost words.
 */
const PAUSE_MS = 12_000;

/** Less than the default, so that there are many hedges: the length of the work does not depend on that of the speech. */
const OVERDUE_FACTOR = 2;

/** Few for the same reason. Retries wait beyond it. */
const WAITING = 48;

export type Configured = Pick<
  Scenario,
  'slots' | 'inFlight' | 'reservationMs' | 'durability' | 'hedgePercent'
>;

/** All other settings have their defaults: the proof is about what users run. */
export function configOf(
  instanceId: string,
  isSingleInstance: boolean,
  { slots, inFlight, reservationMs, durability, hedgePercent }: Configured = SCENARIO,
): Config {
  const text = `
[scheduler.cluster]
enabled = ${!isSingleInstance}
durability = "${durability}"
instance_id = "${instanceId}"
[scheduler]
max_inflight_jobs = ${inFlight}
legacy_node_slots = ${slots}
reservation_ttl_ms = ${reservationMs}
[scheduler.hedge]
classes = [${hedgePercent > 0 ? '"normal"' : ''}]
budget_percent = ${hedgePercent}
overdue_factor = ${OVERDUE_FACTOR}
[scheduler.queue]
max_waiting = ${WAITING}
[scheduler.web_task_segmentation]
pause_ms = ${PAUSE_MS}
[scheduler.pools]
enabled = true
strict_pool_eligibility = true
fallback_scan_all_pools = false
${pools}`;
  const loaded = loadConfig({ toml: { text, path: 'simulation.toml' } });
  if (loaded.kind === 'ok') return loaded.config;
  throw new Error(loaded.problems.map(printFinding).join('\n'));
}
