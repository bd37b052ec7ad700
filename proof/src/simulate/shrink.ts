/** A failing seed made smaller: with fewer kinds of faults and fewer jobs, for as long as the same promise breaks. */
import type { FaultKind, SeedResult } from './run-seed.ts';

export interface Shrunk {
  readonly faults: readonly FaultKind[];
  readonly jobs: number;
  readonly result: SeedResult;
}

export interface ShrinkLimits {
  /** Nothing more is tried when this is so: the smallest by then will do. */
  readonly isLate?: () => boolean;
  /** Told before each try. */
  readonly tries?: (faults: readonly FaultKind[], jobs: number) => void;
}

/** `run` answers what a smaller run came to. */
export async function shrink(
  failing: Shrunk,
  run: (faults: readonly FaultKind[], jobs: number) => Promise<SeedResult>,
  { isLate = () => false, tries }: ShrinkLimits = {},
): Promise<Shrunk> {
  const broken = failing.result.finding.violations[0]?.invariant;
  const stillBreaks = ({ finding }: SeedResult): boolean =>
    finding.violations.some(({ invariant }) => invariant === broken);
  let smallest = failing;

  async function tryWith(faults: readonly FaultKind[], jobs: number): Promise<boolean> {
    if (isLate()) return false;
    tries?.(faults, jobs);
    const result = await run(faults, jobs);
    if (!stillBreaks(result)) return false;
    smallest = { faults, jobs, result };
    return true;
  }

  for (let jobs = Math.floor(failing.jobs / 2); jobs >= 50; jobs = Math.floor(jobs / 2)) {
    if (!(await tryWith(smallest.faults, jobs))) break;
  }
  // Without a kind the others fall elsewhere; many mistakes show all the same.
  for (const kind of failing.faults) {
    await tryWith(
      smallest.faults.filter((each) => each !== kind),
      smallest.jobs,
    );
  }
  return smallest;
}
