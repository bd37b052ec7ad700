/** npm run attack: attacks on fresh processes, and what each of them got. */
import { whyNoRedis } from '../../../bench/dist/preconditions.js';
import { type Column, printTable } from '../../../packages/scheduler/dist/cli/print-table.js';
import type { Attack } from './attack.ts';
import { HELP, readCommand } from './command.ts';
import { readAttacks, runAttacks, type Verdict } from './run-attacks.ts';

const [BROKEN, UNUSABLE, INTERRUPTED] = [1, 2, 130];

// Every process that was started ends with this process, which listens once for each.
process.setMaxListeners(0);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED));

async function main(argv: readonly string[]): Promise<number> {
  const command = readCommand(argv);
  if (command === 'help') {
    console.log(HELP);
    return 0;
  }
  if (typeof command === 'string') return refuse(command);
  const { only, modes, speed, isList, isJson } = command;
  const attacks = (await readAttacks()).filter(
    ({ name, isSlow = false }) =>
      name.includes(only) && (speed === undefined || isSlow === (speed === 'slow')),
  );
  if (attacks.length === 0) return refuse(`--only: no attack has "${only}" in its name`);
  if (isList) {
    console.log(isJson ? JSON.stringify(attacks) : printTable(COLUMNS, attacks));
    return 0;
  }
  const noRedis = modes.includes('redis') ? whyNoRedis('use --mode single') : undefined;
  if (noRedis !== undefined) return refuse(noRedis);
  const onVerdict = (verdict: Verdict): void => void (isJson || console.log(lineOf(verdict)));
  const verdicts = await runAttacks(attacks, { modes, sharesTargets: speed === 'cheap', onVerdict });
  const count = verdicts.filter(({ kind }) => kind === 'held').length;
  console.log(isJson ? JSON.stringify(verdicts) : `\n${count} of ${verdicts.length} attacks held off`);
  return count === verdicts.length ? 0 : BROKEN;
}

function refuse(why: string): number {
  console.error(`attack: ${why}`);
  return UNUSABLE;
}

const COLUMNS: readonly Column<Attack>[] = [
  { title: 'point', cell: ({ point }) => point },
  { title: 'attack', cell: ({ name }) => name },
  { title: 'modes', cell: ({ modes }) => modes.join(', ') },
  { title: 'does', cell: ({ does }) => does },
];

const lineOf = ({ kind, mode, point, name, got, ms }: Verdict): string =>
  [
    kind.toUpperCase().padEnd(6),
    mode.padEnd(6),
    String(point).padStart(2),
    name.padEnd(30),
    `${(ms / 1_000).toFixed(1)} s `.padStart(8),
    got,
  ].join(' ');

process.exitCode = await main(process.argv.slice(2));
