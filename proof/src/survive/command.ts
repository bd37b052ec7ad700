/** The command line of the demonstration of survival, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export interface SurviveCommand {
  readonly seconds: number;
  readonly pairs: number;
  /** What is left runs until Ctrl-C. */
  readonly stays: boolean;
}

export const HELP = `People talk through three instances on a Redis Cluster, while a node, an instance and a Redis master are killed and not
restarted. It prints what was killed and what the people noticed; the console, at the printed address, shows it live.
Exit code 1: an utterance was lost, doubled or out of order.

npm run survive -- [options]
  --seconds T   how long they talk (60); a sixth of it passes before the first process is killed
  --pairs N     how many pairs of people (4)
  --stay        what is left runs on until Ctrl-C, to look around in the console
  --help
`;

const OPTIONS = {
  seconds: { type: 'string', default: '60' },
  pairs: { type: 'string', default: '4' },
  stay: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Long enough for an instance to be declared dead before the next process is killed. */
const [SHORTEST_S, LONGEST_S] = [30, 3_600];
const MOST_PAIRS = 100;

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[]): SurviveCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const seconds = Number(values.seconds);
  if (!(seconds >= SHORTEST_S && seconds <= LONGEST_S))
    return `--seconds takes a number from ${SHORTEST_S} to ${LONGEST_S}, not "${values.seconds}"`;
  const pairs = Number(values.pairs);
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > MOST_PAIRS)
    return `--pairs takes a whole number from 1 to ${MOST_PAIRS}, not "${values.pairs}"`;
  return { seconds, pairs, stays: values.stay };
}
