/** The command line of the chaos run, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';
import { NEEDS_OTHERS, PLANNED, type PlannedKind } from './plan-faults.ts';

export interface ChaosCommand {
  readonly seed: number;
  readonly seconds: number;
  /** How much work there is: 1 is about twenty requests per second. */
  readonly load: number;
  /** Rooms of each tenant. */
  readonly rooms: number;
  readonly durability: 'primary' | 'replica';
  readonly without: readonly PlannedKind[];
  /** One instance without Redis. */
  readonly isSingleInstance: boolean;
  readonly isJson: boolean;
  readonly historyPath: string | undefined;
  /** A saved history, to be judged again. */
  readonly checkPath: string | undefined;
}

export const HELP = `Real processes, real faults: three instances on a Redis Cluster of three masters and three replicas, nodes of every
kind, some with single stages, sessions and dispatchers of two tenants, some for several languages; they also try to read each other's jobs. An independent checker judges what nodes and clients
saw, the metrics of the instances, and the commands that Redis ran for them. Exit code 1: an invariant was broken.

npm run chaos -- [options]
  --seconds T          how long work flows and faults occur (60); a minute more until all is settled
  --seed S             decides the faults and the behaviour of nodes and clients (random)
  --load F             how much work there is (1, about twenty requests per second)
  --rooms N            rooms of each tenant, five people in each (0)
  --durability D       primary, or replica: a write counts only when a replica has it, and then no master's death may
                       lose anything (primary)
  --only KINDS         faults to inject, with commas
  --without KINDS      faults to leave out
  --alone              one instance without Redis: faults of nodes and connections only
  --json               the summary as JSON on standard output
  --keep-history FILE  all events, one JSON object per line
  --check FILE         no run: judge a saved history
  --help

Faults: ${PLANNED.join(', ')}
`;

const OPTIONS = {
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string' },
  load: { type: 'string', default: '1' },
  rooms: { type: 'string', default: '0' },
  durability: { type: 'string', default: 'primary' },
  only: { type: 'string' },
  without: { type: 'string', default: '' },
  alone: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  'keep-history': { type: 'string' },
  check: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Long enough for a fault to begin and end; more than a day is a mistake. */
const [SHORTEST_S, LONGEST_S] = [5, 86_400];
const MOST_LOAD = 100;
const MOST_ROOMS = 20;

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[], anySeed: () => number): ChaosCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const seconds = Number(values.seconds);
  if (!(seconds >= SHORTEST_S && seconds <= LONGEST_S))
    return `--seconds takes a number from ${SHORTEST_S} to ${LONGEST_S}, not "${values.seconds}"`;
  const seed = values.seed === undefined ? anySeed() : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) return `--seed takes a whole number, not "${values.seed}"`;
  const load = Number(values.load);
  if (!(load > 0 && load <= MOST_LOAD))
    return `--load takes a number up to ${MOST_LOAD}, not "${values.load}"`;
  const rooms = Number(values.rooms);
  if (!Number.isInteger(rooms) || rooms < 0 || rooms > MOST_ROOMS)
    return `--rooms takes a whole number from 0 to ${MOST_ROOMS}, not "${values.rooms}"`;
  const { durability } = values;
  if (durability !== 'primary' && durability !== 'replica')
    return `--durability takes primary or replica, not "${durability}"`;
  if (durability === 'replica' && values.alone) return '--durability needs Redis: leave out --alone';
  const only = kindsOf(values.only ?? PLANNED.join(','), '--only');
  if (typeof only === 'string') return only;
  const without = kindsOf(values.without, '--without');
  if (typeof without === 'string') return without;
  const impossible = values.alone ? NEEDS_OTHERS : [];
  return {
    seed,
    seconds,
    load,
    rooms,
    durability,
    without: PLANNED.filter(
      (kind) => !only.includes(kind) || without.includes(kind) || impossible.includes(kind),
    ),
    isSingleInstance: values.alone,
    isJson: values.json,
    historyPath: values['keep-history'],
    checkPath: values.check,
  };
}

function kindsOf(text: string, flag: string): readonly PlannedKind[] | string {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !(PLANNED as readonly string[]).includes(name));
  if (unknown !== undefined)
    return `${flag}: there is no fault "${unknown}"; there are ${PLANNED.join(', ')}`;
  return names as PlannedKind[];
}

/** The same plan again. What processes do at the same time depends on the machine. */
export function replayOf(command: ChaosCommand): string {
  const { seed, seconds, load, rooms, durability, without, isSingleInstance } = command;
  const left = without.filter((kind) => !isSingleInstance || !NEEDS_OTHERS.includes(kind));
  return [
    `npm run chaos -- --seed ${seed} --seconds ${seconds}`,
    ...(load === 1 ? [] : [`--load ${load}`]),
    ...(rooms === 0 ? [] : [`--rooms ${rooms}`]),
    ...(durability === 'primary' ? [] : [`--durability ${durability}`]),
    ...(isSingleInstance ? ['--alone'] : []),
    ...(left.length > 0 ? [`--without ${left.join(',')}`] : []),
  ].join(' ');
}
