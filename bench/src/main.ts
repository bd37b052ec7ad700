/** npm run bench: every figure the project promises, measured in one run, with its target. */
import { writeFileSync } from 'node:fs';
import { isMet } from './measure.ts';
import { type Options, readCommand, USAGE } from './options.ts';
import { whyNoRedis, whyUnwritable } from './preconditions.ts';
import { printPage } from './report/print-page.ts';
import { contestTables, thresholdTable } from './report/tables.ts';
import type { Found } from './run-all.ts';
import { declaredScenarios } from './scenario/find-scenarios.ts';
import { logLine, table } from './show.ts';
import { SUITE_NAMES, SUITE_TITLES, SUITES_ON_REDIS } from './suite-titles.ts';

function list(): string {
  const lines = [
    ...SUITE_NAMES.map((name) => ['--only', name, SUITE_TITLES[name]]),
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

function whyImpossible({ suites, scenarios, json, html }: Options): string | undefined {
  const needsRedis =
    suites.some((name) => SUITES_ON_REDIS.includes(name)) || scenarios.some(({ store }) => store === 'redis');
  const others = SUITE_NAMES.filter((name) => !SUITES_ON_REDIS.includes(name)).join(',');
  return (
    whyUnwritable('--json', json) ??
    whyUnwritable('--html', html) ??
    (needsRedis ? whyNoRedis(`leave out what needs it: --only ${others}`) : undefined)
  );
}

async function run(): Promise<number> {
  let command: ReturnType<typeof readCommand>;
  try {
    command = readCommand();
  } catch (error) {
    logLine(`bench: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (command.kind !== 'run') {
    process.stdout.write(command.kind === 'help' ? `${USAGE}\n` : list());
    return 0;
  }
  const { options } = command;
  const missing = whyImpossible(options);
  if (missing !== undefined) {
    logLine(`bench: ${missing}`);
    return 2;
  }
  // Only now: wrong arguments are answered at once.
  const { runAll } = await import('./run-all.ts');
  const found = await runAll(options);
  print(found);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(found, undefined, 2)}\n`);
  if (options.html !== undefined) writeFileSync(options.html, printPage(found));
  return options.isStrict && found.figures.some((figure) => isMet(figure) === false) ? 1 : 0;
}

process.exitCode = await run();
