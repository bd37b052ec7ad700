/** The command line of the attacks, or what is wrong with it. Pure. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';
import type { Mode } from './attack.ts';

export interface AttackCommand {
  /** Only attacks whose name contains it. */
  readonly only: string;
  readonly modes: readonly Mode[];
  /** Absent: both the slow ones and the others. */
  readonly speed: 'cheap' | 'slow' | undefined;
  readonly isList: boolean;
  readonly isJson: boolean;
}

export const HELP = `Usage: npm run attack -- [options]

Attacks fresh scheduler processes, each in one process and in two on a Redis, and prints what each attack got. The table in
docs/security.md describes them.

  --list         print the attacks and end
  --only TEXT    attacks whose name contains it
  --mode MODE    single (one process on memory) or redis (two on a Redis); both by default
  --cheap        without the slow ones, and on shared processes: what npm test runs
  --slow         only the slow ones
  --json         print the result as JSON

Exits with 1 if an attack broke the target, or could not be performed.`;

const OPTIONS = {
  list: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  mode: { type: 'string' },
  cheap: { type: 'boolean', default: false },
  slow: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const MODES: readonly Mode[] = ['single', 'redis'];

/** A text is for the person who typed it. */
export function readCommand(argv: readonly string[]): AttackCommand | 'help' | string {
  const parsed = parseFlags(argv, OPTIONS);
  if (typeof parsed === 'string') return parsed;
  const { only, mode, cheap, slow, list, json, help } = parsed.values;
  if (help) return 'help';
  if (cheap && slow) return '--cheap and --slow exclude each other; leave out both to run all';
  const modes = MODES.filter((each) => mode === undefined || each === mode);
  if (modes.length === 0) return `--mode takes single or redis, not "${mode}"`;
  return { only, modes, speed: cheap ? 'cheap' : slow ? 'slow' : undefined, isList: list, isJson: json };
}
