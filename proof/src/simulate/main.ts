/** npm run simulate: thousands of jobs under faults on virtual time, judged by the independent checker. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FAULTS, FAULTS_ALONE } from '../../../packages/scheduler/dist/simulation/faults/fault-plan.js';
import { printSummary, printViolations } from '../checker/print.ts';
import { INVARIANTS } from '../checker/violation.ts';
import { type FaultKind, runSeed, type SeedResult } from './run-seed.ts';
import { shrink } from './shrink.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];

const USAGE = `Usage: npm run simulate -- [options]

  --seed S        what happens, and when (1); the same seed gives the same history, byte for byte
  --seeds N       so many seeds, from this one on (1); a seed is a number then
  --jobs N        requests of clients in each run (20000)
  --faults LIST   what may break, of: ${KINDS.join(', ')};
                  none: nothing does. Default: all
  --instances N   instances of the scheduler (3); 1 is alone and has no store
  --history FILE  what everybody saw, a line of JSON each
  --whole         tell the story of a failing seed as it is, without looking for a smaller one first
  --json          the result for machines

Ends with 1 if a promise was broken, and says how to see it again.`;

interface Options {
  readonly seeds: readonly string[];
  readonly jobs: number;
  readonly faults: readonly FaultKind[];
  readonly instances: number;
  readonly history: string | undefined;
  readonly isWhole: boolean;
  readonly isJson: boolean;
}

function readOptions(argv: readonly string[]): Options | string {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '20000' },
      faults: { type: 'string' },
      instances: { type: 'string', default: '3' },
      history: { type: 'string' },
      whole: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return USAGE;
  const [seeds, jobs, instances] = [values.seeds, values.jobs, values.instances].map(Number);
  for (const [name, value, most] of [
    ['seeds', seeds, 1_000_000],
    ['jobs', jobs, 100_000_000],
    ['instances', instances, 16],
  ] as const) {
    if (!Number.isInteger(value) || value === undefined || value < 1 || value > most)
      return `--${name} must be a whole number from 1 to ${most}`;
  }
  const first = Number(values.seed);
  if (seeds !== 1 && !Number.isInteger(first))
    return '--seed must be a whole number if there are more --seeds';
  const possible = instances === 1 ? FAULTS_ALONE : KINDS;
  const named = values.faults?.split(',').filter((name) => name !== '' && name !== 'none') ?? possible;
  const unknown = named.find((name) => !(possible as readonly string[]).includes(name));
  if (unknown !== undefined) return `--faults: ${unknown} is none of ${possible.join(', ')}`;
  return {
    seeds: seeds === 1 ? [values.seed] : Array.from({ length: seeds ?? 1 }, (_, at) => String(first + at)),
    jobs: jobs ?? 1,
    faults: named as FaultKind[],
    instances: instances ?? 1,
    history: values.history,
    isWhole: values.whole,
    isJson: values.json,
  };
}

async function main(options: Options): Promise<number> {
  const { seeds, jobs, faults, instances } = options;
  const run = (seed: string, kinds: readonly FaultKind[], count: number): Promise<SeedResult> =>
    runSeed({ seed, jobs: count, faults: kinds, scenario: { instances }, progress: progressOf(seed, count) });
  for (const seed of seeds) {
    const result = await run(seed, faults, jobs);
    clearProgress();
    if (options.history !== undefined)
      writeFileSync(
        options.history,
        result.simulation.history.map((each) => `${JSON.stringify(each)}\n`).join(''),
      );
    if (options.isJson) console.log(JSON.stringify(forMachines(seed, result)));
    else if (seeds.length === 1) console.log(`${printSummary(result.simulation.history, result.finding)}\n`);
    if (!options.isJson) console.log(lineOf(seed, result));
    if (result.finding.violations.length === 0) continue;
    const failing = { faults, jobs, result };
    const smallest = options.isWhole
      ? failing
      : await shrink(failing, (kinds, count) => run(seed, kinds, count));
    clearProgress();
    const { history } = smallest.result.simulation;
    const text = `${printViolations(history, smallest.result.finding.violations)}\n\nTo see it again:\n  ${commandOf(seed, smallest, instances)}`;
    if (options.isJson) console.error(text);
    else console.log(`\n${text}`);
    return 1;
  }
  return 0;
}

const commandOf = (
  seed: string,
  { faults, jobs }: { faults: readonly FaultKind[]; jobs: number },
  instances: number,
): string =>
  `npm run simulate -- --seed ${seed} --jobs ${jobs} --instances ${instances} --faults ${faults.join(',') || 'none'} --whole`;

function lineOf(
  seed: string,
  { jobs, digest, finding, simulation, simulatedMs, judgedMs }: SeedResult,
): string {
  const faults = [...simulation.faults.values()].reduce((sum, count) => sum + count, 0);
  const broken = finding.violations.length;
  return [
    `seed ${seed}: ${jobs} jobs, ${faults} faults, ${(simulation.virtualMs / 1_000).toFixed(0)} s simulated`,
    `in ${(simulatedMs / 1_000).toFixed(1)} s (${Math.round((jobs / simulatedMs) * 1_000)} jobs/s), judged in ${(judgedMs / 1_000).toFixed(1)} s,`,
    `history ${digest}: ${broken === 0 ? 'every promise kept' : `${broken} promises broken`}`,
  ].join(' ');
}

const forMachines = (seed: string, result: SeedResult) => ({
  seed,
  jobs: result.jobs,
  digest: result.digest,
  virtual_ms: result.simulation.virtualMs,
  simulated_ms: result.simulatedMs,
  judged_ms: result.judgedMs,
  faults: Object.fromEntries(result.simulation.faults),
  judged: result.finding.judged,
  counts: result.finding.counts,
  violations: Object.fromEntries(
    INVARIANTS.map((name) => [
      name,
      result.finding.violations.filter(({ invariant }) => invariant === name).length,
    ]),
  ),
});

function progressOf(seed: string, jobs: number): (asked: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (asked) => process.stderr.write(`\r\u001b[Kseed ${seed}: ${asked} of ${jobs} jobs`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(options);
  process.exitCode = options === USAGE ? 0 : 2;
} else process.exitCode = await main(options);
