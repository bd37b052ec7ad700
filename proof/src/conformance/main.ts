/** npm run conformance: whether a node SDK behaves as the scheduler expects. */
import { fileURLToPath } from 'node:url';
import { type Column, printTable } from '../../../packages/scheduler/dist/cli/print-table.js';
import { HELP, readCommand } from './command.ts';
import { startCommand } from './node-program.ts';
import { type Played, runConformance } from './run-conformance.ts';
import { readScenarios, type Scenario } from './scenario.ts';
import { commandOf, SCENARIOS } from './sdks.ts';

const [FAILED, UNUSABLE] = [1, 2];

async function main(argv: readonly string[]): Promise<number> {
  const command = readCommand(argv);
  if (command === 'help') {
    console.log(HELP);
    return 0;
  }
  if (typeof command === 'string') return refuse(command);
  const { sdk, only, isList, isJson } = command;
  const scenarios = readScenarios(fileURLToPath(SCENARIOS)).filter(({ name }) => name.includes(only));
  if (scenarios.length === 0) return refuse(`--only: no scenario has "${only}" in its name`);
  if (isList) {
    const list = scenarios.map(({ name, shows, needs }) => ({ name, shows, needs }));
    console.log(isJson ? JSON.stringify(list) : printTable(COLUMNS, scenarios));
    return 0;
  }
  const played = await runConformance(scenarios, {
    ...command,
    start: startCommand(commandOf(sdk)),
    onPlayed: (each) => void (isJson || console.log(linesOf(each))),
  });
  const failed = played.filter(({ verdict }) => verdict.kind === 'failed');
  const passed = played.filter(({ verdict }) => verdict.kind === 'passed');
  const others = played.length - failed.length - passed.length;
  if (isJson) console.log(JSON.stringify({ sdk, passed: passed.length, failed: failed.length, played }));
  else {
    const left = others === 0 ? '' : `, ${others} about extensions that it does not announce`;
    console.log(`\n${passed.length} of ${played.length} scenarios passed${left}`);
  }
  return failed.length === 0 ? 0 : FAILED;
}

function refuse(why: string): number {
  console.error(`conformance: ${why}`);
  return UNUSABLE;
}

const COLUMNS: readonly Column<Scenario>[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'needs', cell: ({ needs }) => needs.join(', ') },
  { title: 'shows', cell: ({ shows }) => shows },
];

function linesOf({ name, verdict, ms }: Played): string {
  if (verdict.kind === 'passed') return `passed  ${name} (${ms} ms)`;
  if (verdict.kind === 'not_announced')
    return `-       ${name}: the SDK does not announce ${verdict.needs.join(', ')}`;
  const { at, why, lastWords } = verdict;
  const words =
    lastWords.trim() === ''
      ? ''
      : `\n        standard error: ${lastWords.trim().replaceAll('\n', '\n        ')}`;
  return `FAILED  ${name}\n        ${at}: ${why}${words}`;
}

process.exitCode = await main(process.argv.slice(2));
