/** A deliberately broken build of the scheduler: one changed place in its sources, and the invariant that breaks. */
import type { FaultKind } from '../../../packages/simulation/dist/history.js';
import type { Scenario } from '../../../packages/simulation/dist/world/scenario.js';
import type { Invariant } from '../checker/violation.ts';

export interface Mutant {
  /** What is wrong with it. */
  readonly name: string;
  /** Which invariants it breaks; the checker must report one of them. */
  readonly breaks: readonly Invariant[];
  /** Relative to packages/scheduler/src. */
  readonly file: string;
  /** Occurs there exactly once, or the mutant is stale. */
  readonly find: string;
  readonly replace: string;
  readonly world?: World;
}

/** A scenario in which the mutant shows soon: small, with many faults. */
export interface World {
  readonly jobs?: number;
  readonly scenario?: Partial<Scenario>;
  /** How many seeds are skipped because the mutant shows only later. */
  readonly skips?: number;
  /** Absent: all faults. */
  readonly faults?: readonly FaultKind[];
}

/** The sources with the mutant in them; throws if it is stale. */
export function mutate(source: string, { name, file, find, replace }: Mutant): string {
  const parts = source.split(find);
  if (parts.length !== 2)
    throw new Error(
      `mutant "${name}" is stale: what it looks for occurs ${parts.length - 1} times in ${file}`,
    );
  return parts.join(replace);
}
