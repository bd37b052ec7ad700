/** npm run bench: every figure the project promises, measured in one run, with its target. */
import { writeFileSync } from 'node:fs';
import { describeMachine, type Machine } from './machine.ts';
import { type Figure, isMet } from './measure.ts';
import { type Options, readCommand, USAGE } from './options.ts';
import { printPage } from './report/print-page.ts';
import { contestTables, figuresOf, thresholdTable } from './report/tables.ts';
import { declaredScenarios } from './scenario/find-scenarios.ts';
import { runScenario, type ScenarioReport } from './scenario/run-scenario.ts';
import { say, table } from './show.ts';
import { SUITE_NAMES, SUITES } from './suites.ts';

/** Everything a run has found. */
export interface Found {
  readonly machine: Machine;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly seconds: number;
  /** Of suites and of scenarios, one by one. */
  readonly figures: readonly Figure[];
  readonly scenarios: readonly ScenarioReport[];
}

/** A quick run says nothing but that it runs: it need not do so undisturbed. */
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

async function measure(options: Options): Promise<Found> {
  const { rounds, isQuick } = options;
  const machine = describeMachine();
  const start = performance.now();
  const scenarios: ScenarioReport[] = [];
  const tasks = [
    ...options.suites.map((name) => () => SUITES[name].run(rounds, isQuick)),
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

function list(): string {
  const lines = [
    ...SUITE_NAMES.map((name) => ['--only', name, SUITES[name].title]),
    ...declaredScenarios().map(({ name, title }) => ['--scenario', name, title]),
  ];
  return lines
    .map(([how = '', name = '', title]) => `${how.padEnd(10)}  ${name.padEnd(14)}  ${title}\n`)
    .join('');
}

function print({ figures, scenarios }: Found): void {
  const declared = new Set(scenarios.map(({ scenario }) => scenario.name));
  const ofSuites = figures.filter(({ scenario }) => !declared.has(scenario));
  const parts = [
    ...(ofSuites.length > 0 ? [table(ofSuites)] : []),
    ...scenarios.flatMap(contestTables),
    ...thresholdTable(scenarios),
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
}

async function run(): Promise<number> {
  let command: ReturnType<typeof readCommand>;
  try {
    command = readCommand();
  } catch (error) {
    say(`bench: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (command.kind !== 'run') {
    process.stdout.write(command.kind === 'help' ? `${USAGE}\n` : list());
    return 0;
  }
  const { options } = command;
  const found = await measure(options);
  print(found);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(found, undefined, 2)}\n`);
  if (options.html !== undefined) writeFileSync(options.html, printPage(found));
  return options.isStrict && found.figures.some((figure) => isMet(figure) === false) ? 1 : 0;
}

process.exitCode = await run();
