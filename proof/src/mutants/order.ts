/** What a process is ordered to simulate, and its answer. */
import type { FaultKind } from '../../../packages/simulation/dist/history.js';
import type { Scenario } from '../../../packages/simulation/dist/world/scenario.js';
import type { Invariant } from '../checker/violation.ts';

export interface Order {
  readonly seeds: readonly string[];
  readonly jobs: number;
  readonly scenario: Partial<Scenario>;
  readonly faults?: readonly FaultKind[] | undefined;
  /** Ends with the first seed that breaks one of these; if empty, with the first that breaks any. */
  readonly untilBroken: readonly Invariant[];
}

export interface Broken {
  readonly seed: string;
  readonly invariant: Invariant;
  /** The first of its violations. */
  readonly message: string;
}

export interface Report {
  runs: number;
  jobs: number;
  /** By the last run. */
  broken: readonly Broken[];
}
