/** A deliberately broken build of the scheduler: one place of its sources said otherwise, and which promise that breaks. */
import type { FaultKind } from '../../../packages/simulation/dist/history.js';
import type { Scenario } from '../../../packages/simulation/dist/world/scenario.js';
import type { Invariant } from '../checker/violation.ts';

export interface Mutant {
  /** What is wrong with it. */
  readonly name: string;
  /** Which promises it breaks; one of them must be found broken. */
  readonly breaks: readonly Invariant[];
  /** Relative to packages/scheduler/src. */
  readonly file: string;
  /** Occurs there exactly once, or the mutant is stale. */
  readonly find: string;
  readonly replace: string;
  readonly world?: World;
}

/** In which it shows soon: a small one, where much breaks. */
export interface World {
  readonly jobs?: number;
  readonly scenario?: Partial<Scenario>;
  /** How many seeds come too early for it to show. */
  readonly skips?: number;
  /** Absent: everything that can break. */
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
