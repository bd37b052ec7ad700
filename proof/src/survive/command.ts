/** The command line of the demonstration of survival, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export interface SurviveCommand {
  readonly seconds: number;
  readonly pairs: number;
  /** One room instead of pairs. */
  readonly isRoom: boolean;
  readonly durability: 'primary' | 'replica';
  /** What is left runs until Ctrl-C. */
  readonly stays: boolean;
}

export const HELP = `People talk through three instances on a Redis Cluster, while a node, an instance and a Redis master are killed and not
restarted. It prints what was killed and what the people noticed; the console, at the printed address, shows it live.
Exit code 1: an utterance was lost, doubled or out of order.

With --rooms six people speak four languages in one room. Nodes, instances and the Redis master of the room are killed one after the
other, and restarted. What each person got is compared with the log of the room. Exit code 1: a caption was lost, doubled, out of order
or had another text. One whose speech was not recognised while a later one waited for it for 1.5 s is overtaken; that is no fault.

npm run survive -- [options]
  --seconds T     how long they talk (60; with --rooms 600)
  --pairs N       how many pairs of people (4)
  --rooms         one room instead of pairs
  --durability D  setting scheduler.cluster.durability: primary or replica (primary; with --rooms replica, so that a failover loses nothing)
  --stay          what is left runs on until Ctrl-C, to look around in the console
  --help
`;

const OPTIONS = {
  seconds: { type: 'string' },
  pairs: { type: 'string' },
  rooms: { type: 'boolean', default: false },
  durability: { type: 'string' },
  stay: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Long enough for an instance to be declared dead before the next process is killed. */
const [SHORTEST_S, LONGEST_S] = [30, 3_600];
const [USUAL_S, USUAL_IN_ROOM_S] = [60, 600];
const [USUAL_PAIRS, MOST_PAIRS] = [4, 100];

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[]): SurviveCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const isRoom = values.rooms;
  const seconds = Number(values.seconds ?? (isRoom ? USUAL_IN_ROOM_S : USUAL_S));
  if (!(seconds >= SHORTEST_S && seconds <= LONGEST_S))
    return `--seconds takes a number from ${SHORTEST_S} to ${LONGEST_S}, not "${values.seconds}"`;
  if (isRoom && values.pairs !== undefined)
    return '--pairs does not go with --rooms: six people are in the room';
  const pairs = Number(values.pairs ?? USUAL_PAIRS);
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > MOST_PAIRS)
    return `--pairs takes a whole number from 1 to ${MOST_PAIRS}, not "${values.pairs}"`;
  const durability = values.durability ?? (isRoom ? 'replica' : 'primary');
  if (durability !== 'primary' && durability !== 'replica')
    return `--durability takes primary or replica, not "${durability}"`;
  return { seconds, pairs, isRoom, durability, stays: values.stay };
}
