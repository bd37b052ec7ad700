/** The options of `lingua plan`: read, and refused all at once if they are wrong. Pure. */
import { leastCounted, type Target } from '../../plan/find-fleet.ts';
import { offeredSlots, type Spread, USUAL_INSTANCE_RATE, type Workload } from '../../plan/workload.ts';
import { readDuration } from '../duration.ts';
import { parseFlags } from '../parse-flags.ts';

export interface PlanOptions {
  readonly workload: Workload;
  readonly target: Target;
  readonly spareNodes: number;
  readonly instanceRate: number;
  readonly spareInstances: number;
  /** Counted in each simulation; undefined: as long as it usually needs. */
  readonly seconds: number | undefined;
  readonly seed: string;
  readonly isJson: boolean;
}

export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: PlanOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export const PLAN_USAGE = `Usage: lingua plan --arrivals RATE --service-time TIME --slots N [options]

Computes how many nodes and instances a load needs. It simulates the scheduler's own selection, leases and waiting queue with
fleets of several sizes; it starts nothing and connects to nothing. Takes seconds; progress goes to standard error.

  --arrivals RATE        jobs that come, on average: 50/s, 1200/m or 900/h
  --service-time TIME    how long a job occupies a slot, on average, from the send to its result: 800ms or 1.5s
  --slots N              jobs that one node takes at once
  --spread KIND          of service times: exp, fixed, or lognormal:SIGMA such as lognormal:0.6 (exp)
  --wait-p99 TIME        99 % of the jobs that are served shall wait no longer for a slot (200ms)
  --refused PERCENT      no more of all jobs shall be refused because they waited for too long (0.1%)
  --max-wait TIME        how long a job waits at most, as scheduler.pending_timeout_ms; 0s = not at all (10s)
  --spare-nodes N        nodes that may be missing (1)
  --instance-rate RATE   jobs that one instance can handle; measure yours with npm run bench (${USUAL_INSTANCE_RATE}/s)
  --spare-instances N    instances that may be missing (1)
  --seconds T            simulated time that counts for each size (as long as about 40000 jobs take)
  --seed TEXT            the same seed plans the same (1)
  --json                 for machines
  --help                 this text`;

const MOST_ARRIVALS = 10_000_000;
const MOST_OFFERED = 10_000;
const MOST_WAIT_MS = 600_000;
const MOST_SERVICE_MS = 3_600_000;

export function readPlan(argv: readonly string[]): ReadPlan {
  const flags = parseFlags(argv, FLAGS);
  if (typeof flags === 'string') return { kind: 'invalid', problems: [flags] };
  const given = flags.values;
  if (given.help) return { kind: 'help' };
  const problems: string[] = [];
  /** A value that cannot be parsed is a problem, and counts as 1 until all problems are reported. */
  function read<Value>(name: Name, parse: (text: string) => Value | undefined, rule: string): Value | 1 {
    const text = given[name];
    const value = text === undefined ? undefined : parse(text);
    if (value !== undefined) return value;
    problems.push(
      text === undefined ? `--${name} is missing: it ${rule}` : `--${name} ${rule}, not "${text}"`,
    );
    return 1;
  }
  const number = (name: Name, min: number, max: number): number =>
    read(name, (text) => wholeWithin(text, min, max), `must be a whole number from ${min} to ${max}`);

  const workload: Workload = {
    arrivalsPerSecond: read('arrivals', readRate, RATE_RULE),
    serviceMs: read(
      'service-time',
      (text) => timeWithin(text, 1, MOST_SERVICE_MS),
      'must be a time from 1ms to 1h, such as 800ms or 1.5s',
    ),
    slots: number('slots', 1, 1_000),
    spread: readSpread(given.spread, problems),
    maxWaitMs: read('max-wait', (text) => timeWithin(text, 0, MOST_WAIT_MS), TIME_RULE),
  };
  const plan: PlanOptions = {
    workload,
    target: {
      waitP99Ms: read('wait-p99', (text) => timeWithin(text, 0, MOST_WAIT_MS), TIME_RULE),
      refused: read('refused', readPercent, 'must be a percentage from 0% to 50%, such as 0.1%'),
    },
    spareNodes: number('spare-nodes', 0, 1_000),
    instanceRate: read('instance-rate', readRate, RATE_RULE),
    spareInstances: number('spare-instances', 0, 100),
    seconds: given.seconds === undefined ? undefined : number('seconds', 1, 10_000_000),
    seed: given.seed,
    isJson: given.json,
  };
  if (problems.length === 0) problems.push(...checkSize(plan));
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'plan', plan };
}

const FLAGS = {
  arrivals: { type: 'string' },
  'service-time': { type: 'string' },
  slots: { type: 'string' },
  spread: { type: 'string', default: 'exp' },
  'wait-p99': { type: 'string', default: '200ms' },
  refused: { type: 'string', default: '0.1%' },
  'max-wait': { type: 'string', default: '10s' },
  'spare-nodes': { type: 'string', default: '1' },
  'instance-rate': { type: 'string', default: `${USUAL_INSTANCE_RATE}/s` },
  'spare-instances': { type: 'string', default: '1' },
  seconds: { type: 'string' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Name = Exclude<keyof typeof FLAGS, 'json' | 'help'>;

const RATE_RULE = 'must be a rate from 0.01/s to 1000000/s, such as 50/s, 1200/m or 900/h';
const TIME_RULE = 'must be a time from 0ms to 10m, such as 200ms or 10s';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

function readRate(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\/(s|m|h)$/.exec(text) ?? [];
  const rate = Number(amount) / (SECONDS_OF[unit] ?? 1);
  return rate >= 0.01 && rate <= 1_000_000 ? rate : undefined;
}

function timeWithin(text: string, min: number, max: number): number | undefined {
  const [, amount] = /^(\d{1,9}(?:\.\d{1,3})?)ms$/.exec(text) ?? [];
  const ms = amount === undefined ? readDuration(text) : Number(amount);
  return ms !== undefined && ms >= min && ms <= max ? ms : undefined;
}

function readPercent(text: string): number | undefined {
  const [, amount] = /^(\d{1,2}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  const part = Number(amount) / 100;
  return part <= 0.5 ? part : undefined;
}

function wholeWithin(text: string, min: number, max: number): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= min && value <= max ? value : undefined;
}

function readSpread(text: string, problems: string[]): Spread {
  if (text === 'exp' || text === 'fixed') return { kind: text };
  const [, sigma] = /^lognormal:(\d(?:\.\d{1,3})?)$/.exec(text) ?? [];
  if (sigma !== undefined && Number(sigma) <= 2) return { kind: 'lognormal', sigma: Number(sigma) };
  problems.push(`--spread must be exp, fixed, or lognormal:SIGMA with SIGMA from 0 to 2, not "${text}"`);
  return { kind: 'exp' };
}

/** Values that are allowed alone may be too large or too small together. */
function checkSize({ workload, seconds }: PlanOptions): string[] {
  const problems: string[] = [];
  const { arrivalsPerSecond } = workload;
  const offered = Math.ceil(offeredSlots(workload));
  if (offered > MOST_OFFERED)
    problems.push(
      `--arrivals × --service-time keep ${offered} slots busy, and more than ${MOST_OFFERED} are not simulated: plan a part of the load; a larger load needs no more per job`,
    );
  const least = leastCounted(workload);
  if (seconds !== undefined && seconds * arrivalsPerSecond < least)
    problems.push(
      `--seconds ${seconds} is too short for a p99: ${least} jobs, the fewest that are meaningful, take ${Math.ceil(least / arrivalsPerSecond)} s`,
    );
  if (seconds !== undefined && seconds * arrivalsPerSecond > MOST_ARRIVALS)
    problems.push(
      `--seconds ${seconds} is too long: ${MOST_ARRIVALS} jobs, the most that are simulated, take ${Math.floor(MOST_ARRIVALS / arrivalsPerSecond)} s`,
    );
  return problems;
}
