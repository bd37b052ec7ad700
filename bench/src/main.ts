/** npm run bench: every figure the project promises, measured in one run, with its target. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { cycle } from './cycle.ts';
import { decision } from './decision.ts';
import { fairness } from './fairness.ts';
import { heartbeats } from './heartbeats.ts';
import { http } from './http.ts';
import { hub } from './hub.ts';
import { type Figure, isMet } from './measure.ts';
import { memory } from './memory.ts';
import { redis } from './redis.ts';
import { redisCost } from './redis-cost.ts';
import { reserve } from './reserve.ts';
import { sessions } from './sessions.ts';
import { say, table } from './show.ts';
import { stats } from './stats.ts';

const USAGE = `Usage: npm run bench -- [options]

  --only LIST    scenarios to run, of: decision, heartbeats, memory, http, cycle, sessions,
                 redis, redis-cost, reserve, stats, hub, fairness
  --rounds N     repetitions; figures are medians (5)
  --quick        one short round each, to see that it works; its figures say nothing, so they have no targets
  --json FILE    the figures for machines
  --strict       end with 1 if a target is missed`;

const SIZES = [100, 1_000, 10_000, 100_000];

const SCENARIOS = [
  'decision',
  'heartbeats',
  'memory',
  'http',
  'cycle',
  'sessions',
  'redis',
  'redis-cost',
  'reserve',
  'stats',
  'hub',
  'fairness',
] as const;
type Scenario = (typeof SCENARIOS)[number];

interface Options {
  readonly wanted: readonly Scenario[];
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly isStrict: boolean;
  readonly isHelp: boolean;
  readonly json: string | undefined;
}

const isScenario = (name: string): name is Scenario => (SCENARIOS as readonly string[]).includes(name);

/** Throws what is wrong with the arguments. */
function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const names = values.only?.split(',') ?? SCENARIOS;
  const unknown = names.find((name) => !isScenario(name));
  if (unknown !== undefined) throw new Error(`there is no scenario "${unknown}"`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a whole number from 1 on');
  if (values.json === '') throw new Error('--json needs the name of a file');
  const { quick: isQuick, strict: isStrict, help: isHelp, json } = values;
  return { wanted: names.filter(isScenario), rounds: isQuick ? 1 : rounds, isQuick, isStrict, isHelp, json };
}

const withoutTarget = ({ target: _, ...figure }: Figure): Figure => figure;

async function measure({ wanted, rounds, isQuick }: Options): Promise<Figure[]> {
  const scenarios: Record<Scenario, () => Promise<Figure[]>> = {
    decision: () =>
      decision({ sizes: isQuick ? SIZES.slice(0, 2) : SIZES, rounds, perRound: isQuick ? 1_000 : 20_000 }),
    heartbeats: () => heartbeats({ nodes: isQuick ? 500 : 10_000, rounds }),
    memory: () => memory(isQuick ? { nodes: 500, jobs: 500 } : { nodes: 20_000, jobs: 50_000 }),
    http: () => http({ rounds: isQuick ? 1 : 3 * rounds, roundMs: isQuick ? 300 : 1_500 }),
    cycle: () => cycle({ rounds, jobsPerRound: isQuick ? 200 : 4_000 }),
    sessions: () =>
      sessions(
        isQuick
          ? { rounds, idle: 50, speaking: 20, pacedMs: 300, floodMs: 200, rate: 20, utterancesMs: 300 }
          : {
              rounds,
              idle: 10_000,
              speaking: 1_000,
              pacedMs: 10_000,
              floodMs: 3_000,
              rate: 200,
              utterancesMs: 10_000,
            },
      ),
    redis: () =>
      redis({ rounds, jobsPerRound: isQuick ? 200 : 5_000, rate: 200, pacedMs: isQuick ? 300 : 5_000 }),
    'redis-cost': () =>
      redisCost(
        isQuick
          ? { alone: 20, together: 200, retentionMs: 1_000, nodes: 100 }
          : { alone: 200, together: 2_000, retentionMs: 6_000, nodes: 1_000 },
      ),
    stats: () => stats({ rounds, roundMs: isQuick ? 500 : 5_000, idleNodes: isQuick ? 200 : 5_000 }),
    hub: () => hub({ rounds, roundMs: isQuick ? 500 : 5_000 }),
    reserve: () =>
      reserve(isQuick ? { serviceMs: 400, forMs: 400 } : { serviceMs: 1_000, forMs: rounds * 3_000 }),
    fairness: () => fairness({ rounds, forMs: isQuick ? 400 : 8_000 }),
  };
  const figures: Figure[] = [];
  for (const name of wanted) figures.push(...(await scenarios[name]()));
  // One cold round meets or misses a target by accident.
  return isQuick ? figures.map(withoutTarget) : figures;
}

async function run(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    say(`bench: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (options.isHelp) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const figures = await measure(options);
  process.stdout.write(`${table(figures)}\n`);
  const { rounds, isQuick, isStrict, json } = options;
  if (json !== undefined) {
    const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
    writeFileSync(json, `${JSON.stringify({ machine, rounds, isQuick, figures }, undefined, 2)}\n`);
  }
  return isStrict && figures.some((figure) => isMet(figure) === false) ? 1 : 0;
}

process.exitCode = await run();
