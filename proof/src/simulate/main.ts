/** npm run simulate: thousands of jobs under faults on virtual time, judged by the independent checker. */
import { setFlagsFromString } from 'node:v8';
import { whyUnwritable } from '../../../bench/dist/preconditions.js';
import {
  inRooms,
  type Scenario,
  severalLanguages,
} from '../../../packages/simulation/dist/world/scenario.js';
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
  const { seeds, jobs, faults, threads } = options;
  const runs = seeds.map((seed) => ({ seed, worlds: cutIntoWorlds(seed, jobs) }));
  const scenario = scenarioOf(options);
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
      // Of several seeds some end before their turn to be printed: only the time of each one itself is meaningful.
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
      // The exit code, should a thread not end.
      process.exitCode = 1;
      const text = await print(failing.world, options);
      if (options.isJson) console.error(text);
      else console.log(`\n${text}`);
      return 1;
    }
  } finally {
    await reports.return(undefined);
  }
  return 0;
}

const scenarioOf = ({ instances, durability, targets, rooms, hedgePercent }: Options): Partial<Scenario> => ({
  instances,
  durability,
  hedgePercent,
  ...(targets !== undefined && severalLanguages(targets)),
  ...(rooms !== undefined && inRooms(rooms)),
});

/** Time that shrinking may take. A try that is under way then is completed. */
const SHRINK_MS = 60_000;

function reportTry(faults: readonly FaultKind[], jobs: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\u001b[Klooking for a smaller run: ${jobs} jobs, ${faults.length} kinds of faults`);
}

/** What happened in it, or in the smallest run that breaks the same invariant, and how to repeat that. */
async function print({ seed, jobs }: World, options: Options): Promise<string> {
  const { faults, instances, durability, targets, rooms, hedgePercent, isWhole } = options;
  const run = (kinds: readonly FaultKind[], count: number) =>
    runSeed({ seed, jobs: count, faults: kinds, scenario: scenarioOf(options) });
  const failing = { faults, jobs, result: await run(faults, jobs) };
  const until = performance.now() + SHRINK_MS;
  const smallest = isWhole
    ? failing
    : await shrink(failing, run, { isLate: () => performance.now() > until, tries: reportTry });
  clearProgress();
  const { simulation, finding } = smallest.result;
  const command = `npm run simulate -- --seed ${seed} --jobs ${smallest.jobs} --instances ${instances}${durability === 'primary' ? '' : ` --durability ${durability}`}${targets === undefined ? '' : ` --targets ${targets}`}${rooms === undefined ? '' : ` --rooms ${rooms}`}${hedgePercent === 0 ? '' : ` --hedge ${hedgePercent}`} --faults ${smallest.faults.join(',') || 'none'} --whole`;
  const isTheSame = !isWhole && smallest === failing;
  return [
    ...(isTheSame ? ['No smaller run breaks the same invariant: this is the whole.'] : []),
    printViolations(simulation.history, finding.violations),
    `To repeat it:\n  ${command}`,
  ].join('\n\n');
}

/** Of the whole process, checker included; of several seeds that of the threads in which they ran. */
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
    `seed ${seed}: ${run.jobs} jobs (${ordered} ordered, the rest to fill every slot at the end) in ${worlds.length === 1 ? 'one world' : `${worlds.length} worlds`}, ${faults} faults, ${(run.virtualMs / 1_000).toFixed(0)} s simulated and checked`,
    `in ${(ms / 1_000).toFixed(1)} s (${Math.round((ordered / ms) * 1_000)} ordered jobs/s${cpuMs === undefined ? '' : `, ${(cpuMs / ordered).toFixed(2)} ms of CPU each`}),`,
    `history ${run.digest}: ${broken === 0 ? 'every invariant kept' : `${broken} invariants broken`}`,
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
  // Unknown for several seeds: they run side by side.
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

function progressOf(orders: readonly WorldOrder[]): ((order: number, requested: number) => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  const requestedIn = orders.map(() => 0);
  const all = orders.reduce((sum, { jobs }) => sum + jobs, 0);
  return (order, requested) => {
    requestedIn[order] = requested;
    const sum = requestedIn.reduce((total, each) => total + each, 0);
    process.stderr.write(`\r\u001b[K${Math.min(sum, all)} of ${all} jobs`);
  };
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

// `npm run simulate` adds `--single-threaded`, which V8 reads only at its start: worlds keep every core busy, and helper threads of
// the garbage collector and the compiler would wait for one another.
// A run is over before large inlined functions have paid for their compilation, which was the larger part of a short run's CPU time.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=250');
// Most objects die young; with enough room from the beginning, few of them have to be moved before that.
setFlagsFromString(`--min-semi-space-size=${YOUNG_MB / SPACES_OF_THE_YOUNG}`);
setFlagsFromString('--no-allocation-site-pretenuring');

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(options === USAGE ? USAGE : `simulate: ${options}`);
  process.exitCode = options === USAGE ? 0 : 2;
} else process.exitCode = await main(options);
