/** The options of npm run simulate. Pure. */
import { availableParallelism } from 'node:os';
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';
import { FAULTS, SINGLE_INSTANCE_FAULTS } from '../../../packages/simulation/dist/faults/fault-plan.js';
import { MOST_ROOMS, MOST_TARGETS } from '../../../packages/simulation/dist/world/scenario.js';
import type { FaultKind } from './run-seed.ts';
import { JOBS_PER_WORLD } from './worlds.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];

export const USAGE = `Usage: npm run simulate -- [options]

  --seed S        decides every event of the run (1); the same seed gives the same history, byte for byte
  --seeds N       number of seeds, from this one on (1); --seed must be a number then
  --jobs N        requests of clients in each run (20000); more than ${JOBS_PER_WORLD} are divided among several
                  worlds, whose seeds are S/1, S/2, …
  --faults LIST   kinds of faults, of: ${KINDS.join(', ')};
                  none: no faults, but nodes still misbehave. Default: all
  --instances N   instances of the scheduler (3); a single instance has no store
  --durability D  primary, or replica: a write counts only when a replica has it, and then no failover may
                  lose anything (primary)
  --targets N     every utterance is wanted in N languages, on nodes of which most have some stages only, 2 to
                  ${MOST_TARGETS}; default: some utterances, in 3
  --rooms N       most clients are in rooms, N of each tenant, 1 to ${MOST_ROOMS}; then not with --targets. Default: none
  --hedge PERCENT this share of the attempts may be hedged (0: no hedges, as in the default settings)
  --threads N     worlds at a time (${availableParallelism()}, as many as there are processors); changes nothing else
  --history FILE  writes every event as a line of JSON; of several worlds FILE.1, FILE.2, …
  --whole         print the story of a failing seed without looking for a smaller run first
  --json          print the result as JSON

Exits with 1 if an invariant was broken, and prints the command that repeats it.`;

export interface Options {
  readonly seeds: readonly string[];
  readonly jobs: number;
  readonly faults: readonly FaultKind[];
  readonly instances: number;
  readonly durability: 'primary' | 'replica';
  /** Languages of every utterance. Absent: some clients want several. */
  readonly targets: number | undefined;
  /** Of each tenant. Absent: none. */
  readonly rooms: number | undefined;
  readonly hedgePercent: number;
  readonly threads: number;
  readonly history: string | undefined;
  readonly isWhole: boolean;
  readonly isJson: boolean;
}

/** A text: what is wrong with them, or the usage. */
export function readOptions(argv: readonly string[]): Options | string {
  const parsed = parseFlags(argv, {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '20000' },
    faults: { type: 'string' },
    instances: { type: 'string', default: '3' },
    durability: { type: 'string', default: 'primary' },
    targets: { type: 'string' },
    rooms: { type: 'string' },
    hedge: { type: 'string', default: '0' },
    threads: { type: 'string', default: String(availableParallelism()) },
    history: { type: 'string' },
    whole: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return USAGE;
  const [seeds = 0, jobs = 0, instances = 0, threads = 0] = [
    values.seeds,
    values.jobs,
    values.instances,
    values.threads,
  ].map(Number);
  for (const [name, value, most] of [
    ['seeds', seeds, 1_000_000],
    ['jobs', jobs, 100_000_000],
    ['instances', instances, 16],
    ['threads', threads, 256],
  ] as const) {
    if (!Number.isInteger(value) || value < 1 || value > most)
      return `--${name} must be a whole number from 1 to ${most}`;
  }
  const first = Number(values.seed);
  if (seeds !== 1 && !Number.isInteger(first))
    return '--seed must be a whole number if there are more --seeds';
  const { durability } = values;
  if (durability !== 'primary' && durability !== 'replica') return '--durability must be primary or replica';
  if (durability === 'replica' && instances === 1)
    return '--durability needs a store: a single instance has none';
  const targets = values.targets === undefined ? undefined : Number(values.targets);
  if (targets !== undefined && (!Number.isInteger(targets) || targets < 2 || targets > MOST_TARGETS))
    return `--targets must be a whole number from 2 to ${MOST_TARGETS}`;
  const rooms = values.rooms === undefined ? undefined : Number(values.rooms);
  if (rooms !== undefined && (!Number.isInteger(rooms) || rooms < 1 || rooms > MOST_ROOMS))
    return `--rooms must be a whole number from 1 to ${MOST_ROOMS}`;
  if (rooms !== undefined && targets !== undefined)
    return '--rooms and --targets are different worlds: give one';
  const hedgePercent = Number(values.hedge);
  if (!(hedgePercent >= 0 && hedgePercent <= 20)) return '--hedge must be a number from 0 to 20';
  const possible = instances === 1 ? SINGLE_INSTANCE_FAULTS : KINDS;
  const named = values.faults?.split(',').filter((name) => name !== '' && name !== 'none') ?? possible;
  const unknown = named.find((name) => !(possible as readonly string[]).includes(name));
  if (unknown !== undefined) return `--faults: ${unknown} is none of ${possible.join(', ')}`;
  return {
    seeds: seeds === 1 ? [values.seed] : Array.from({ length: seeds }, (_, at) => String(first + at)),
    jobs,
    faults: named as FaultKind[],
    instances,
    durability,
    targets,
    rooms,
    hedgePercent,
    threads,
    history: values.history,
    isWhole: values.whole,
    isJson: values.json,
  };
}
