/** A declared scenario from beginning to end: contestants side by side, rounds in turn, saturation, curves, and the verdict. */
import type { Contestant, RoundOrder } from '../contest/contestant.ts';
import { startDecisions } from '../contest/decisions.ts';
import { startJobs } from '../contest/jobs.ts';
import { startServed } from '../contest/served.ts';
import { median } from '../measure.ts';
import { findSaturation, type Saturation } from '../open-loop/find-saturation.ts';
import { type Counts, createHistogram } from '../open-loop/histogram.ts';
import { type BenchRedis, startRedisServer } from '../redis/redis-server.ts';
import { logLine } from '../show.ts';
import { type Judged, judge } from './judge.ts';
import { type Scenario, shownAt } from './scenario.ts';
import { FIGURE_IDS, type FigureId, type Figures, OURS, titleOf, type Who } from './vocabulary.ts';

export interface Result {
  readonly figures: Figures;
  readonly latencies?: Counts;
  readonly saturation?: Saturation;
}

/** All results with one value of what is varied, or with the only one. */
export interface Point {
  readonly value?: number;
  readonly results: Partial<Record<Who, Result>>;
}

export interface ScenarioReport {
  readonly scenario: Scenario;
  readonly rounds: number;
  readonly points: readonly Point[];
  readonly judged: readonly Judged[];
}

export interface RunOptions {
  readonly rounds: number;
  readonly isQuick: boolean;
}

interface Entry {
  readonly contestant: Contestant;
  readonly scenario: Scenario;
  readonly rounds: { figures: Figures; latencies?: Counts }[];
  counted: Figures;
  saturation?: Saturation;
}

interface Started {
  readonly value?: number;
  readonly entries: Entry[];
}

const WARM_SHARE = 0.3;
const MOST_WARM_SECONDS = 2;
const FLOOD_JOBS = 5_000;
const QUICK_FLOOD_JOBS = 200;
/** More than one load process can offer. */
const MOST_RATE = 60_000;

export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioReport> {
  const redis = scenario.store === 'redis' ? await startRedisServer() : undefined;
  try {
    const rounds = Math.min(options.rounds, scenario.mostRounds);
    const values = scenario.vary?.values ?? [undefined];
    // Fleets that only decide can all exist at once, and take turns: their target is a ratio.
    const groups = scenario.measures === 'decisions' ? [values] : values.map((value) => [value]);
    const points: Point[] = [];
    for (const group of groups) points.push(...(await playGroup(scenario, group, rounds, redis, options)));
    return { scenario, rounds, points, judged: judge(scenario, points) };
  } finally {
    await redis?.stop();
  }
}

function scenarioAt(scenario: Scenario, value: number | undefined): Scenario {
  if (value === undefined || scenario.vary === undefined) return scenario;
  if (scenario.vary.field === 'nodes') return { ...scenario, fleet: { ...scenario.fleet, nodes: value } };
  return { ...scenario, [scenario.vary.field]: value };
}

function start(
  who: Who,
  scenario: Scenario,
  redis: BenchRedis | undefined,
  isQuick: boolean,
): Promise<Contestant> {
  if (scenario.measures === 'decisions') return startDecisions(who, scenario);
  if (scenario.measures === 'jobs')
    return startJobs(
      who,
      scenario,
      redis,
      isQuick ? QUICK_FLOOD_JOBS : Math.max(FLOOD_JOBS, 5 * scenario.inFlight),
    );
  return startServed(who, scenario, redis);
}

async function playGroup(
  scenario: Scenario,
  values: readonly (number | undefined)[],
  rounds: number,
  redis: BenchRedis | undefined,
  { isQuick }: RunOptions,
): Promise<Point[]> {
  const started: Started[] = [];
  try {
    for (const value of values) {
      const own = scenarioAt(scenario, value);
      const entries: Entry[] = [];
      started.push({ ...(value !== undefined && { value }), entries });
      for (const who of [OURS, ...scenario.peers] as Who[]) {
        loggerOf(scenario, `starting ${titleOf(who)}`, value);
        entries.push({
          contestant: await start(who, own, redis, isQuick),
          scenario: own,
          rounds: [],
          counted: {},
        });
      }
    }
    await playRounds(scenario, started, rounds);
    for (const { entries } of started) await finish(entries, isQuick);
    return started.map(({ value, entries }) => ({
      ...(value !== undefined && { value }),
      results: Object.fromEntries(entries.map((entry) => [entry.contestant.who, resultOf(entry)])),
    }));
  } finally {
    for (const { entries } of started) for (const { contestant } of entries) await contestant.stop();
  }
}

function loggerOf(scenario: Scenario, what: string, value: number | undefined): void {
  const at = shownAt(scenario, value);
  logLine(`${scenario.name}: ${what}${at === '' ? '' : `, ${at}`}`);
}

/** Each contestant has its turn in every round, so that a slow minute of the machine is a slow minute for all of them. */
async function playRounds(scenario: Scenario, started: readonly Started[], rounds: number): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    for (const { value, entries } of started) {
      loggerOf(scenario, round === 0 ? 'warming up' : `round ${round} of ${rounds}`, value);
      for (const entry of entries) {
        const seen = await entry.contestant.round(orderOf(entry.scenario, round));
        if (round > 0) entry.rounds.push(seen);
      }
    }
  }
}

function orderOf(scenario: Scenario, round: number): RoundOrder {
  const { measures, arrivals, sessions, seconds } = scenario;
  return {
    rate: arrivals.rate * (measures === 'sessions' ? sessions : 1),
    seconds: round === 0 ? Math.min(MOST_WARM_SECONDS, seconds * WARM_SHARE) : seconds,
    seed: round + 1,
  };
}

async function finish(entries: readonly Entry[], isQuick: boolean): Promise<void> {
  for (const entry of entries) {
    const { contestant, scenario } = entry;
    entry.counted = (await contestant.count?.(orderOf(scenario, 1))) ?? {};
    if (scenario.saturation !== undefined) entry.saturation = await saturate(contestant, scenario, isQuick);
  }
}

async function saturate(contestant: Contestant, scenario: Scenario, isQuick: boolean): Promise<Saturation> {
  const { p99Ms = 0, from = 1, seconds = 1 } = scenario.saturation ?? {};
  const who = titleOf(contestant.who);
  let seed = 100;
  return findSaturation({
    from,
    // A quick run tries one rate only.
    limitMs: isQuick ? Number.POSITIVE_INFINITY : p99Ms,
    precision: 0.1,
    most: isQuick ? from : MOST_RATE,
    async probe(rate) {
      const { figures } = await contestant.probe({ rate, seconds, seed: seed++ });
      const seen = {
        p99Ms: figures.dispatch_p99_ms ?? figures.answer_p99_ms ?? Number.POSITIVE_INFINITY,
        refusedShare: (figures.refused_percent ?? 0) / 100,
      };
      logLine(`${scenario.name}: ${who} at ${Math.round(rate)}/s: p99 ${seen.p99Ms.toFixed(1)} ms`);
      return seen;
    },
  });
}

function resultOf({ rounds, counted, saturation }: Entry): Result {
  const parts = rounds.flatMap(({ latencies }) => (latencies === undefined ? [] : [latencies]));
  return {
    figures: {
      ...medians(rounds.map(({ figures }) => figures)),
      ...counted,
      ...(saturation !== undefined && { saturation_per_second: saturation.rate }),
    },
    ...(parts.length > 0 && { latencies: createHistogram(...parts).counts() }),
    ...(saturation !== undefined && { saturation }),
  };
}

/** Of the longest pauses the longest: a median would hide it. */
const isLongest = (figure: FigureId): boolean => figure.endsWith('_max_ms');

function medians(rounds: readonly Figures[]): Figures {
  const seen: Figures = {};
  for (const figure of FIGURE_IDS) {
    const values = rounds.flatMap((round) => round[figure] ?? []);
    if (values.length > 0) seen[figure] = isLongest(figure) ? Math.max(...values) : median(values);
  }
  return seen;
}
