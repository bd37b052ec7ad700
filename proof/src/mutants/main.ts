/** npm run mutants: deliberately broken builds, and the seed and invariant by which each was detected. */
import { parseFlags } from '../../../packages/scheduler/dist/cli/parse-flags.js';
import type { Mutant } from './mutant.ts';
import { runMutants, type Verdict } from './run-mutants.ts';
import { MUTANTS } from './table/index.ts';

const USAGE = `Usage: npm run mutants -- [options]

  --only TEXT    mutants whose name contains it
  --seeds N      seeds per mutant at most (4)
  --at-once N    processes at a time (2)
  --json         print the result as JSON

Exits with 1 if a mutant was not detected, or if the correct build breaks an invariant in the same scenarios.`;

async function main(argv: readonly string[]): Promise<number> {
  const parsed = parseFlags(argv, {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '4' },
    'at-once': { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (typeof parsed === 'string') return refuse(parsed);
  const { values } = parsed;
  if (values.help) {
    console.error(USAGE);
    return 0;
  }
  for (const name of ['seeds', 'at-once'] as const)
    if (!isCount(Number(values[name])))
      return refuse(`--${name} takes a whole number from 1 to ${MOST}, not "${values[name]}"`);
  const [count, atOnce] = [Number(values.seeds), Number(values['at-once'])];
  const mutants = MUTANTS.filter(({ name }) => name.includes(values.only));
  if (mutants.length === 0) return refuse(`--only: no mutant has "${values.only}" in its name`);
  const seeds = Array.from({ length: count }, (_, at) => String(at + 1));
  const onVerdict = values.json ? () => {} : (verdict: Verdict) => console.log(lineOf(verdict));
  const { verdicts, sound } = await runMutants(mutants, { seeds, atOnce, onVerdict });
  const escaped = verdicts.filter(({ caughtBy }) => caughtBy === undefined);
  if (values.json) console.log(JSON.stringify({ verdicts: verdicts.map(forMachines), sound }));
  else {
    console.log(`\n${verdicts.length - escaped.length} of ${verdicts.length} mutants detected`);
    console.log(
      sound.broken.length === 0
        ? `the correct build keeps every invariant in ${sound.runs} runs of the same scenarios`
        : `the correct build breaks invariants as well:\n${sound.broken.map(({ seed, invariant, message }) => `  seed ${seed}, ${invariant}: ${message}`).join('\n')}`,
    );
  }
  return escaped.length === 0 && sound.broken.length === 0 ? 0 : 1;
}

function refuse(why: string): number {
  console.error(`mutants: ${why}`);
  return 2;
}

const MOST = 1_000;
const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST;

const NAME_WIDTH = Math.max(...MUTANTS.map(({ name }: Mutant) => name.length));

function lineOf({ mutant, caughtBy, besides, runs, jobs, ms }: Verdict): string {
  const lived = `${jobs} jobs, ${(ms / 1_000).toFixed(1)} s`;
  const what =
    caughtBy === undefined
      ? `NOT FOUND OUT in ${runs} seeds (${lived})${besides.length === 0 ? '' : `; broken: ${besides.map(({ invariant }) => invariant).join(', ')}`}`
      : `${caughtBy.invariant}, seed ${caughtBy.seed} (${lived}): ${caughtBy.message}`;
  return `${mutant.name.padEnd(NAME_WIDTH)}  ${what}`;
}

const forMachines = ({ mutant, caughtBy, besides, runs, jobs, ms }: Verdict) => ({
  name: mutant.name,
  file: mutant.file,
  caught_by: caughtBy ?? null,
  besides,
  runs,
  jobs,
  ms: Math.round(ms),
});

process.exitCode = await main(process.argv.slice(2));
