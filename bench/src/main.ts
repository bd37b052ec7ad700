/** npm run bench: every figure the project promises, measured in one run, with its target. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { cycle } from './cycle.ts';
import { decision } from './decision.ts';
import { heartbeats } from './heartbeats.ts';
import { http } from './http.ts';
import { type Figure, isMet } from './measure.ts';
import { memory } from './memory.ts';
import { say, table } from './show.ts';

const USAGE = `Usage: npm run bench -- [options]

  --only LIST    scenarios to run, of: decision, heartbeats, memory, http, cycle
  --rounds N     repetitions; figures are medians (5)
  --quick        one short round each, to see that it works; its figures say nothing
  --json FILE    the figures for machines
  --strict       end with 1 if a target is missed`;

const SIZES = [100, 1_000, 10_000, 100_000];

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const isQuick = values.quick;
  const rounds = isQuick ? 1 : Number(values.rounds);
  const scenarios: Record<string, () => Promise<Figure[]>> = {
    decision: () =>
      decision({ sizes: isQuick ? SIZES.slice(0, 2) : SIZES, rounds, perRound: isQuick ? 1_000 : 20_000 }),
    heartbeats: () => heartbeats({ nodes: isQuick ? 500 : 10_000, rounds }),
    memory: () => memory(isQuick ? { nodes: 500, jobs: 500 } : { nodes: 20_000, jobs: 50_000 }),
    http: () => http({ rounds: isQuick ? 1 : 3 * rounds, roundMs: isQuick ? 300 : 700 }),
    cycle: () => cycle({ rounds, jobsPerRound: isQuick ? 200 : 4_000 }),
  };
  const wanted = values.only?.split(',') ?? Object.keys(scenarios);
  const figures: Figure[] = [];
  for (const name of wanted) {
    const scenario = scenarios[name];
    if (scenario === undefined) {
      say(`bench: there is no scenario "${name}"\n${USAGE}`);
      return 2;
    }
    figures.push(...(await scenario()));
  }
  process.stdout.write(`${table(figures)}\n`);
  if (values.json !== undefined) {
    const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
    writeFileSync(values.json, `${JSON.stringify({ machine, rounds, isQuick, figures }, undefined, 2)}\n`);
  }
  return values.strict && figures.some((figure) => isMet(figure) === false) ? 1 : 0;
}

process.exitCode = await run();
