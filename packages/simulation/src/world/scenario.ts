/** Simulation: how large the world is, and how its instances are configured. */
import { loadConfig } from '../../../scheduler/dist/config/load-config.js';
import { printFinding } from '../../../scheduler/dist/config/origin.js';
import type { Config } from '../../../scheduler/dist/config/settings.js';

export interface Scenario {
  /** 1: it is alone and needs no store. */
  readonly instances: number;
  /** Of the store; each fails on its own. */
  readonly shards: number;
  readonly nodes: number;
  /** Legacy nodes declare none: only 4 is what they really get. */
  readonly slots: number;
  readonly speakers: number;
  readonly dispatchers: number;
  /** Requests of all clients together. */
  readonly perSecond: number;
  /** Chance of each bad habit of nodes, per job. */
  readonly badness: number;
  /** How long half of the jobs take at most, in milliseconds of work. */
  readonly workMs: number;
  /** How many jobs each instance may have in flight. */
  readonly inFlight: number;
  /** How long a slot is kept for a job that its node has not acknowledged. */
  readonly reservationMs: number;
  /** What counts as written: what the primary has, or what a replica has as well. */
  readonly durability: 'primary' | 'replica';
  /** Share of the instances that freeze whose clocks stand still meanwhile, as those of machines that are suspended do. */
  readonly suspended: number;
  /** Share of them whose machines sleep: their clocks count that, their timers do not. */
  readonly slept: number;
}

export const SCENARIO: Scenario = {
  instances: 3,
  shards: 3,
  nodes: 32,
  slots: 4,
  speakers: 12,
  dispatchers: 24,
  perSecond: 180,
  badness: 0.004,
  workMs: 250,
  // So few that limits are reached: one that nobody reaches was not tried.
  inFlight: 400,
  reservationMs: 5_000,
  durability: 'primary',
  suspended: 0,
  slept: 0.3,
};

/** Each tenant is confined to its pool: a job on a node of the other one is a breach (I10). */
export const TENANTS = ['acme', 'globex'] as const;
export type Tenant = (typeof TENANTS)[number];
/** The service that makes a node one of the tenant's pool. */
export const serviceOf = (tenant: string): string => `only-${tenant}`;

const PAIRS = [
  ['en', 'zh'],
  ['zh', 'en'],
  ['de', 'en'],
  ['en', 'ja'],
] as const;
export const LANGUAGES = [...new Set(PAIRS.flat())];
export const pairOf = (number: number): readonly [string, string] => PAIRS[number % PAIRS.length] ?? PAIRS[0];

const pools = TENANTS.map(
  (tenant, at) => `
[[scheduler.phase3.pools]]
pool_id = ${at + 1}
name = "${tenant}"
required_services = ["${serviceOf(tenant)}"]
dedicated = true
[[scheduler.phase3.tenant_overrides]]
tenant_id = "${tenant}"
pool_id = ${at + 1}
`,
).join('');

/**
 * Longer than a connection stalls before it is given up. Pauses are told by when speech arrives: in a stall of a second a sentence ends,
 * rightly, and its speaker here would take that for words that were lost.
 */
const PAUSE_MS = 12_000;

/** As few. Retries wait beyond it. */
const WAITING = 48;

export type Configured = Pick<Scenario, 'inFlight' | 'reservationMs' | 'durability'>;

/** Everything else is as it comes: what is proven is what is run. */
export function configOf(
  instanceId: string,
  isAlone: boolean,
  { inFlight, reservationMs, durability }: Configured = SCENARIO,
): Config {
  const text = `
[scheduler.phase2]
enabled = ${!isAlone}
durability = "${durability}"
instance_id = "${instanceId}"
[scheduler]
max_inflight_jobs = ${inFlight}
reservation_ttl_ms = ${reservationMs}
[scheduler.queue]
max_waiting = ${WAITING}
[scheduler.web_task_segmentation]
pause_ms = ${PAUSE_MS}
[scheduler.phase3]
enabled = true
strict_pool_eligibility = true
fallback_scan_all_pools = false
${pools}`;
  const loaded = loadConfig({ toml: { text, path: 'simulation.toml' } });
  if (loaded.kind === 'ok') return loaded.config;
  throw new Error(loaded.problems.map(printFinding).join('\n'));
}
