/** The command line. */
import { parseArgs } from 'node:util';
import { declaredScenarios, findScenario } from './scenario/find-scenarios.ts';
import { quickened } from './scenario/quickened.ts';
import type { Scenario } from './scenario/scenario.ts';
import { isSuite, SUITE_NAMES, type SuiteName } from './suite-titles.ts';

export const USAGE = `Usage: npm run bench -- [options]

  --list            lists suites and scenarios, and ends
  --only LIST       suites to run, of: ${SUITE_NAMES.slice(0, 6).join(', ')},
                    ${SUITE_NAMES.slice(6).join(', ')}
  --scenario LIST   declared scenarios to run, by name or by file (bench/scenarios/NAME.toml)
                    Without --only and --scenario: everything.
  --minutes M       one round of this length for the selected scenarios; without any: the scenario "endurance"
  --rounds N        repetitions; figures are medians (5)
  --quick           one short round each, to see that it works; its figures say nothing, so they have no targets
  --json FILE       the figures for machines
  --html FILE       one page with curves and histograms
  --strict          end with 1 if a target is missed`;

export interface Options {
  readonly suites: readonly SuiteName[];
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly isStrict: boolean;
  readonly json: string | undefined;
  readonly html: string | undefined;
}

export type Command =
  | { readonly kind: 'help' | 'list' }
  | { readonly kind: 'run'; readonly options: Options };

const LONG_LOAD = 'endurance';

/** Throws what is wrong with the arguments, or with the file of a scenario. */
export function readCommand(args = process.argv.slice(2)): Command {
  const { values } = parseArgs({
    args,
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      scenario: { type: 'string', multiple: true },
      minutes: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      html: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  if (values.list) return { kind: 'list' };
  if (values.json === '') throw new Error('--json needs the name of a file');
  if (values.html === '') throw new Error('--html needs the name of a file');
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a whole number from 1 on');
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error('--minutes is a number above 0');
  const selected = {
    suites: values.only?.split(','),
    scenarios: values.scenario?.flatMap((list) => list.split(',')),
  };
  if (minutes !== undefined && selected.scenarios === undefined) selected.scenarios = [LONG_LOAD];
  const isAll = selected.suites === undefined && selected.scenarios === undefined;
  const { quick: isQuick, strict: isStrict, json, html } = values;
  return {
    kind: 'run',
    options: {
      suites: isAll ? SUITE_NAMES : readSuites(selected.suites ?? []),
      scenarios: (isAll ? declaredScenarios() : (selected.scenarios ?? []).map(findScenario))
        .map((scenario) => (isQuick ? quickened(scenario) : scenario))
        .map((scenario) => lasting(scenario, minutes)),
      rounds: isQuick ? 1 : rounds,
      isQuick,
      isStrict,
      json,
      html,
    },
  };
}

function readSuites(names: readonly string[]): readonly SuiteName[] {
  const unknown = names.find((name) => !isSuite(name));
  if (unknown !== undefined) throw new Error(`there is no suite "${unknown}"`);
  return names.filter(isSuite);
}

const lasting = (scenario: Scenario, minutes: number | undefined): Scenario =>
  minutes === undefined ? scenario : { ...scenario, seconds: minutes * 60, mostRounds: 1 };
