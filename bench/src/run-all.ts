/** Runs all selected suites and scenarios, one after the other. */
import { describeMachine, type Machine } from './machine.ts';
import type { Figure } from './measure.ts';
import type { Options } from './options.ts';
import { figuresOf } from './report/tables.ts';
import { runScenario, type ScenarioReport } from './scenario/run-scenario.ts';
import { SUITES } from './suites.ts';

/** All results of a run. */
export interface Found {
  readonly machine: Machine;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly seconds: number;
  /** Of suites and of scenarios, one by one. */
  readonly figures: readonly Figure[];
  readonly scenarios: readonly ScenarioReport[];
}

/** A quick run shows only that the bench works: it may be disturbed. */
const QUICK_AT_ONCE = 4;

const withoutTarget = ({ target: _, ...figure }: Figure): Figure => figure;

async function inOrder<T>(tasks: readonly (() => Promise<T>)[], atOnce: number): Promise<T[]> {
  const results: T[] = [];
  const left = tasks.entries();
  async function lane(): Promise<void> {
    for (const [index, task] of left) results[index] = await task();
  }
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

export async function runAll(options: Options): Promise<Found> {
  const { rounds, isQuick } = options;
  const machine = describeMachine();
  const start = performance.now();
  const scenarios: ScenarioReport[] = [];
  const tasks = [
    ...options.suites.map((name) => () => SUITES[name](rounds, isQuick)),
    ...options.scenarios.map((scenario, index) => async () => {
      const report = await runScenario(scenario, { rounds, isQuick });
      scenarios[index] = report;
      return figuresOf(report);
    }),
  ];
  const figures = (await inOrder(tasks, isQuick ? QUICK_AT_ONCE : 1)).flat();
  return {
    machine,
    rounds,
    isQuick,
    seconds: Math.round((performance.now() - start) / 1_000),
    // One cold round meets or misses a target by accident.
    figures: isQuick ? figures.map(withoutTarget) : figures,
    scenarios,
  };
}
