/** The command line of the conformance suite, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';

export interface ConformanceCommand {
  /** Empty: --list was given. */
  readonly sdk: string;
  /** Only scenarios whose name contains it. */
  readonly only: string;
  readonly patienceMs: number;
  readonly atOnce: number;
  readonly isList: boolean;
  readonly isJson: boolean;
}

export const HELP = `Usage: npm run conformance -- --sdk "COMMAND" [options]

Plays scenarios with a program that is written with a node SDK, over a real WebSocket, and reports at which step it did
something else. docs/conformance.md describes what the program must do.

  --sdk COMMAND    starts the program, by the shell; typescript and python are the SDKs of this repository
  --only TEXT      scenarios whose name contains it
  --patience S     how many seconds a step waits for the program (30)
  --at-once N      scenarios that are played at the same time (4)
  --list           print the scenarios and end
  --json           print the result as JSON
  --help

Exits with 1 if a scenario failed.`;

const OPTIONS = {
  sdk: { type: 'string', default: '' },
  only: { type: 'string', default: '' },
  patience: { type: 'string', default: '30' },
  'at-once': { type: 'string', default: '4' },
  list: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const MOST_AT_ONCE = 64;
const LONGEST_S = 600;

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[]): ConformanceCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { sdk, only, patience, list, json, help, 'at-once': many } = parsed.values;
  if (help) return 'help';
  if (sdk === '' && !list) return '--sdk is missing: --sdk "COMMAND", or --sdk typescript or --sdk python';
  const patienceS = Number(patience);
  if (!(patienceS > 0 && patienceS <= LONGEST_S))
    return `--patience takes seconds up to ${LONGEST_S}, not "${patience}"`;
  const atOnce = Number(many);
  if (!(Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= MOST_AT_ONCE))
    return `--at-once takes a whole number from 1 to ${MOST_AT_ONCE}, not "${many}"`;
  return { sdk, only, patienceMs: patienceS * 1_000, atOnce, isList: list, isJson: json };
}
