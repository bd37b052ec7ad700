/** Builds every mutant, simulates some seeds of each in its own process, and reports how it was detected. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Scenario, WITHOUT_STAGES } from '../../../packages/simulation/dist/world/scenario.js';
import { bundle } from './bundle.ts';
import type { Mutant, World } from './mutant.ts';
import type { Broken, Order, Report } from './order.ts';

export interface Verdict {
  readonly mutant: Mutant;
  /** How it was detected; absent: it was not. */
  readonly caughtBy?: Broken | undefined;
  /** Invariants broken in the same run that were not expected to be. */
  readonly besides: readonly Broken[];
  readonly runs: number;
  readonly jobs: number;
  readonly ms: number;
}

export interface Options {
  /** Seeds per mutant at most. */
  readonly seeds: readonly string[];
  readonly atOnce: number;
  readonly onVerdict?: (verdict: Verdict) => void;
}

const JOBS = 250;
/** Few slots, so that all of them are taken at times; few clients, so that faults affect all of them. */
const SMALL: Partial<Scenario> = {
  hasSingles: false,
  ...WITHOUT_STAGES,
  instances: 3,
  nodes: 6,
  slots: 4,
  speakers: 6,
  dispatchers: 4,
  perSecond: 40,
  badness: 0.01,
};
const MANIFEST = fileURLToPath(new URL('../../../packages/scheduler/package.json', import.meta.url));

/** What the correct build breaks in the scenarios of the mutants; must be nothing. */
export interface Sound {
  readonly broken: readonly Broken[];
  readonly runs: number;
}

export async function runMutants(
  mutants: readonly Mutant[],
  options: Options,
): Promise<{ verdicts: Verdict[]; sound: Sound }> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-mutants-'));
  try {
    // As deep as `dist/app`: the scheduler reads its version two folders above.
    const bundles = join(folder, 'dist', 'app');
    await mkdir(bundles, { recursive: true });
    await cp(MANIFEST, join(folder, 'package.json'));
    const verdicts: Verdict[] = [];
    await inTurns(
      mutants.map((mutant, number) => async () => {
        const verdict = await tryMutant(join(bundles, `${number}.mjs`), mutant, options.seeds);
        verdicts[number] = verdict;
        options.onVerdict?.(verdict);
      }),
      options.atOnce,
    );
    const control = join(bundles, 'sound.mjs');
    await bundle(control);
    const broken: Broken[] = [];
    let runs = 0;
    await inTurns(
      livedIn(verdicts).map(({ world, runs: count }) => async () => {
        const order = { ...orderOf(world, options.seeds.slice(0, count)), untilBroken: [] };
        const report = await run(control, order);
        broken.push(...report.broken);
        runs += report.runs;
      }),
      options.atOnce,
    );
    return { verdicts, sound: { broken, runs } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryMutant(file: string, mutant: Mutant, seeds: readonly string[]): Promise<Verdict> {
  const begunAt = performance.now();
  await bundle(file, mutant);
  const { broken, runs, jobs } = await run(file, {
    ...orderOf(mutant.world ?? {}, seeds),
    untilBroken: mutant.breaks,
  });
  const isMeant = ({ invariant }: Broken): boolean => mutant.breaks.includes(invariant);
  return {
    mutant,
    caughtBy: broken.find(isMeant),
    besides: broken.filter((each) => !isMeant(each)),
    runs,
    jobs,
    ms: performance.now() - begunAt,
  };
}

const orderOf = ({ jobs = JOBS, scenario, faults, skips = 0 }: World, seeds: readonly string[]) => ({
  seeds: seeds.map((seed) => String(Number(seed) + skips)),
  jobs,
  scenario: { ...SMALL, ...scenario },
  faults,
});

/** Each scenario once, with as many seeds as any of its mutants needed. */
function livedIn(verdicts: readonly Verdict[]): { readonly world: World; readonly runs: number }[] {
  const worlds = new Map<string, { readonly world: World; runs: number }>();
  for (const { mutant, runs } of verdicts) {
    const { world = {} } = mutant;
    const name = JSON.stringify(world);
    const lived = worlds.get(name) ?? { world, runs: 0 };
    worlds.set(name, lived);
    lived.runs = Math.max(lived.runs, runs);
  }
  return [...worlds.values()];
}

async function run(file: string, order: Order): Promise<Report> {
  const { stdout } = await promisify(execFile)(process.execPath, [file, JSON.stringify(order)]);
  return JSON.parse(stdout) as Report;
}

async function inTurns(tasks: (() => Promise<void>)[], atOnce: number): Promise<void> {
  const waiting = [...tasks];
  const worker = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
