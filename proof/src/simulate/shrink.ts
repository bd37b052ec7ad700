/** Makes a failing seed smaller: with fewer kinds of faults and fewer jobs, while the same invariant breaks. */
import type { FaultKind, SeedResult } from './run-seed.ts';

export interface Shrunk {
  readonly faults: readonly FaultKind[];
  readonly jobs: number;
  readonly result: SeedResult;
}

export interface ShrinkLimits {
  /** No further try begins when this is true: the smallest run so far is returned. */
  readonly isLate?: () => boolean;
  /** Called before each try. */
  readonly tries?: (faults: readonly FaultKind[], jobs: number) => void;
}

/** `run` returns the result of a smaller run. */
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
  // Without a kind the other faults fall elsewhere; many mistakes show all the same.
  for (const kind of failing.faults) {
    await tryWith(
      smallest.faults.filter((each) => each !== kind),
      smallest.jobs,
    );
  }
  return smallest;
}
