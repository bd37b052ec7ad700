/** npm run simulate: thousands of jobs under faults on virtual time, judged by the independent checker. */
import { setFlagsFromString } from 'node:v8';
import { whyUnwritable } from '../../../bench/dist/preconditions.js';
import { printViolations } from '../checker/print.ts';
import { INVARIANTS } from '../checker/violation.ts';
import { type Options, readOptions, USAGE } from './read-options.ts';
import { type FaultKind, runSeed } from './run-seed.ts';
import { runWorlds, YOUNG_MB } from './run-worlds.ts';
import { shrink } from './shrink.ts';
import { joinReports, type RunReport, type WorldOrder, type WorldReport } from './world-report.ts';
import { cutIntoWorlds, type World } from './worlds.ts';

/** As V8 counts them. */
const SPACES_OF_THE_YOUNG = 3;

async function main(options: Options): Promise<number> {
  const { seeds, jobs, faults, instances, durability, threads } = options;
  const runs = seeds.map((seed) => ({ seed, worlds: cutIntoWorlds(seed, jobs) }));
  const scenario = { instances, durability };
  const orders = runs.flatMap(({ worlds }) =>
    worlds.map(
      (world, at): WorldOrder => ({
        ...world,
        faults,
        scenario,
        historyFile:
          options.history && (worlds.length === 1 ? options.history : `${options.history}.${at + 1}`),
      }),
    ),
  );
  const unwritable = whyUnwritable('--history', orders[0]?.historyFile);
  if (unwritable !== undefined) {
    console.error(`simulate: ${unwritable}`);
    return 2;
  }
  const reports = runWorlds(orders, { threads, progress: progressOf(orders) });
  try {
    for (const { seed, worlds } of runs) {
      const begun = { at: performance.now(), cpu: process.cpuUsage() };
      const lived: WorldReport[] = [];
      for (const _ of worlds) {
        const { value } = await reports.next();
        if (value !== undefined) lived.push(value);
      }
      // Of several seeds some end before it is their turn to be told of: only what each took itself says anything.
      const cost =
        seeds.length === 1
          ? { ms: performance.now() - begun.at, cpuMs: cpuMsSince(begun.cpu) }
          : { ms: lived.reduce((sum, { simulatedMs, judgedMs }) => sum + simulatedMs + judgedMs, 0) };
      clearProgress();
      const run = joinReports(lived);
      if (options.isJson) console.log(JSON.stringify(forMachines(seed, run, lived, cost)));
      else {
        if (seeds.length === 1) console.log(`${run.summary}\n`);
        console.log(lineOf(seed, run, lived, cost));
      }
      const failing = lived.find(({ finding }) => finding.violations.length > 0);
      if (failing === undefined) continue;
      // Should a thread not end, this stands.
      process.exitCode = 1;
      const text = await tell(failing.world, options);
      if (options.isJson) console.error(text);
      else console.log(`\n${text}`);
      return 1;
    }
  } finally {
    await reports.return(undefined);
  }
  return 0;
}

/** Whoever waits for a story has to read it yet. The try that is under way then is waited for. */
const SHRINK_MS = 60_000;

function tellTry(faults: readonly FaultKind[], jobs: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\u001b[Klooking for a smaller one: ${jobs} jobs, ${faults.length} kinds of faults`);
}

/** What happened in it, or in the smallest world that breaks the same promise, and how to see that again. */
async function tell(
  { seed, jobs }: World,
  { faults, instances, durability, isWhole }: Options,
): Promise<string> {
  const run = (kinds: readonly FaultKind[], count: number) =>
    runSeed({ seed, jobs: count, faults: kinds, scenario: { instances, durability } });
  const failing = { faults, jobs, result: await run(faults, jobs) };
  const until = performance.now() + SHRINK_MS;
  const smallest = isWhole
    ? failing
    : await shrink(failing, run, { isLate: () => performance.now() > until, tries: tellTry });
  clearProgress();
  const { simulation, finding } = smallest.result;
  const command = `npm run simulate -- --seed ${seed} --jobs ${smallest.jobs} --instances ${instances}${durability === 'primary' ? '' : ` --durability ${durability}`} --faults ${smallest.faults.join(',') || 'none'} --whole`;
  const isTheSame = !isWhole && smallest === failing;
  return [
    ...(isTheSame ? ['Nothing smaller was found that breaks the same promise: this is the whole.'] : []),
    printViolations(simulation.history, finding.violations),
    `To see it again:\n  ${command}`,
  ].join('\n\n');
}

/** Of the whole process, judgement included; of several seeds that of the threads they were lived through in. */
interface Cost {
  readonly ms: number;
  readonly cpuMs?: number;
}

function cpuMsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

function lineOf(seed: string, run: RunReport, worlds: readonly WorldReport[], { ms, cpuMs }: Cost): string {
  const faults = Object.values(run.faults).reduce((sum, count) => sum + count, 0);
  const broken = run.finding.violations.length;
  const ordered = worlds.reduce((sum, { world }) => sum + world.jobs, 0);
  return [
    `seed ${seed}: ${run.jobs} jobs (${ordered} ordered, the rest to fill every slot at the end) in ${worlds.length === 1 ? 'one world' : `${worlds.length} worlds`}, ${faults} faults, ${(run.virtualMs / 1_000).toFixed(0)} s simulated and judged`,
    `in ${(ms / 1_000).toFixed(1)} s (${Math.round((ordered / ms) * 1_000)} ordered jobs/s${cpuMs === undefined ? '' : `, ${(cpuMs / ordered).toFixed(2)} ms of CPU each`}),`,
    `history ${run.digest}: ${broken === 0 ? 'every promise kept' : `${broken} promises broken`}`,
  ].join(' ');
}

const forMachines = (seed: string, run: RunReport, worlds: readonly WorldReport[], { ms, cpuMs }: Cost) => ({
  seed,
  jobs: run.jobs,
  ordered: worlds.reduce((sum, { world }) => sum + world.jobs, 0),
  digest: run.digest,
  worlds: worlds.map(({ world, digest }) => ({ ...world, digest })),
  virtual_ms: run.virtualMs,
  simulated_ms: run.simulatedMs,
  judged_ms: run.judgedMs,
  // Of several seeds nobody can say: they are lived through side by side.
  ...(cpuMs !== undefined && { wall_ms: ms, cpu_ms: cpuMs }),
  faults: run.faults,
  judged: run.finding.judged,
  counts: run.finding.counts,
  violations: Object.fromEntries(
    INVARIANTS.map((name) => [
      name,
      run.finding.violations.filter(({ invariant }) => invariant === name).length,
    ]),
  ),
});

function progressOf(orders: readonly WorldOrder[]): ((order: number, asked: number) => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  const askedIn = orders.map(() => 0);
  const all = orders.reduce((sum, { jobs }) => sum + jobs, 0);
  return (order, asked) => {
    askedIn[order] = asked;
    const sum = askedIn.reduce((total, each) => total + each, 0);
    process.stderr.write(`\r\u001b[K${Math.min(sum, all)} of ${all} jobs`);
  };
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

// `npm run simulate` adds `--single-threaded`, which V8 takes at its start only: worlds keep every core busy, and helpers of the garbage
// collector and the compiler would wait for one another there.
// A run is over before large inlined functions have paid for their compilation: of the CPU of a short run it was the larger part.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=250');
// Most of what is made dies young; where there is room for it from the beginning, little has to be moved before that.
setFlagsFromString(`--min-semi-space-size=${YOUNG_MB / SPACES_OF_THE_YOUNG}`);
setFlagsFromString('--no-allocation-site-pretenuring');

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(options === USAGE ? USAGE : `simulate: ${options}`);
  process.exitCode = options === USAGE ? 0 : 2;
} else process.exitCode = await main(options);
