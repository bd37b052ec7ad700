/** The command line of the soak, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export interface SoakCommand {
  readonly minutes: number;
  readonly seed: number;
  /** 1: a single instance without Redis. */
  readonly instances: number;
  readonly htmlPath: string | undefined;
  readonly isJson: boolean;
}

export const HELP = `Steady work for a long time: does anything grow that must not? Scheduler instances on their own Redis, nodes and
clients that come, go, lose their connections, repeat, cancel and vanish. Memory, handles, keys, streams and every level
that the scheduler reports are sampled; after a warm-up none may have a trend, and after the load all must be as before.
Exit code 1: something grew, or did not return to its level.

npm run soak -- [options]
  --minutes M     how long work flows (10); the longer, the smaller the leak that shows
  --seed S        decides the behaviour of nodes and clients (random)
  --instances N   schedulers that share a Redis (2); 1: one without Redis
  --html FILE     a page with a chart of every series
  --json          everything as JSON on standard output
  --help
`;

const OPTIONS = {
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string' },
  instances: { type: 'string', default: '2' },
  html: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const [SHORTEST, LONGEST] = [0.1, 14 * 24 * 60];
const MOST_INSTANCES = 8;

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[], anySeed: () => number): SoakCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const minutes = Number(values.minutes);
  if (!(minutes >= SHORTEST && minutes <= LONGEST))
    return `--minutes takes a number from ${SHORTEST} to ${LONGEST}, not "${values.minutes}"`;
  const seed = values.seed === undefined ? anySeed() : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) return `--seed takes a whole number, not "${values.seed}"`;
  const instances = Number(values.instances);
  if (!Number.isInteger(instances) || instances < 1 || instances > MOST_INSTANCES)
    return `--instances takes a whole number from 1 to ${MOST_INSTANCES}, not "${values.instances}"`;
  return { minutes, seed, instances, htmlPath: values.html, isJson: values.json };
}
