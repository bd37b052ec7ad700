/** The command line of the fuzz, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export interface FuzzCommand {
  readonly frames: number;
  readonly requests: number;
  readonly seed: number;
  readonly place: 'inside' | 'process';
  readonly measuresMemory: boolean;
  readonly isJson: boolean;
}

export const HELP = `Usage: npm run fuzz -- [options]

Sends frames and HTTP requests that are made from the schemas of the protocol, half of them distorted. The scheduler must
neither end nor log an error nor answer with a 5xx, except that no node can serve a job; its memory must not keep growing.
The run has three equal parts, and memory is measured at rest after each: the last part may add little to it.

  --frames N      frames to /ws/session and /ws/node (1000000)
  --requests N    HTTP requests to all endpoints (100000)
  --seed S        decides what is sent (random)
  --target WHERE  process: a scheduler of its own (default); inside: in this process
  --no-memory     do not wait for the memory to be measured, two minutes
  --json          print the result as JSON

Exits with 1 if something is wrong.`;

const OPTIONS = {
  frames: { type: 'string', default: '1000000' },
  requests: { type: 'string', default: '100000' },
  seed: { type: 'string' },
  target: { type: 'string', default: 'process' },
  'no-memory': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const MOST = 1_000_000_000;

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[], anySeed: () => number): FuzzCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { values } = parsed;
  if (values.help) return 'help';
  const [frames, requests] = [Number(values.frames), Number(values.requests)];
  const seed = values.seed === undefined ? anySeed() : Number(values.seed);
  for (const [name, value] of Object.entries({ frames, requests, seed }))
    if (!Number.isInteger(value) || value < 0 || value > MOST)
      return `--${name} takes a whole number up to ${MOST}, not "${values[name as 'seed']}"`;
  const place = values.target;
  if (place !== 'inside' && place !== 'process') return `--target takes inside or process, not "${place}"`;
  return { frames, requests, seed, place, measuresMemory: !values['no-memory'], isJson: values.json };
}
