/** The options of npm run placement. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export const USAGE = `Usage: npm run placement -- [options]

Places the same jobs with every policy, on fleets that bench/fleets declares, with the scheduler's own engine on
virtual time, and prints how long the jobs took from their arrival to their result. The same seed gives the same table.

  --fleet NAME     one fleet of bench/fleets, without .toml (all)
  --load LIST      shares of what the fleet serves with all slots taken (0.5,0.7,0.85)
  --instances N    instances that share the nodes, from 1 to 16 (1)
  --delay MS       how late an instance sees the slots that others take and release (50)
  --jobs N         jobs of each run (40000)
  --seeds N        runs with different seeds; each figure is their median (3)
  --situations     two regions, machines that are taken away, and an overload, instead of the fleets
  --json           print the result as JSON
  --help`;

export interface PlacementOptions {
  readonly fleet: string | undefined;
  readonly loads: readonly number[];
  readonly instances: number;
  readonly viewDelayMs: number;
  readonly jobs: number;
  readonly seeds: number;
  readonly isJson: boolean;
  readonly areSituations: boolean;
}

/** A text is for the person who typed it. */
export function readOptions(argv: readonly string[]): PlacementOptions | 'help' | string {
  const parsed = parseFlags(argv, {
    fleet: { type: 'string' },
    load: { type: 'string', default: '0.5,0.7,0.85' },
    instances: { type: 'string', default: '1' },
    delay: { type: 'string', default: '50' },
    jobs: { type: 'string', default: '40000' },
    seeds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    situations: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const loads = values.load.split(',').map(Number);
  if (!loads.every((load) => load > 0 && load < 1))
    return `--load takes numbers between 0 and 1, such as 0.5,0.7, not "${values.load}"`;
  const numbers = [
    ['instances', values.instances, 1, 16],
    ['delay', values.delay, 0, 60_000],
    ['jobs', values.jobs, 1_000, 1_000_000],
    ['seeds', values.seeds, 1, 99],
  ] as const;
  for (const [name, given, least, most] of numbers)
    if (!(Number.isInteger(Number(given)) && Number(given) >= least && Number(given) <= most))
      return `--${name} takes a whole number from ${least} to ${most}, not "${given}"`;
  const [instances = 1, viewDelayMs = 0, jobs = 0, seeds = 1] = numbers.map(([, given]) => Number(given));
  return {
    fleet: values.fleet,
    loads,
    instances,
    viewDelayMs,
    jobs,
    seeds,
    isJson: values.json,
    areSituations: values.situations,
  };
}
