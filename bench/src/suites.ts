/** The scenarios that are programs of their own, and how large each is. */
import { cycle } from './cycle.ts';
import { decision } from './decision.ts';
import { fairness } from './fairness.ts';
import { heartbeats } from './heartbeats.ts';
import { http } from './http.ts';
import { hub } from './hub.ts';
import type { Figure } from './measure.ts';
import { memory } from './memory.ts';
import { redis } from './redis.ts';
import { redisCost } from './redis-cost.ts';
import { reserve } from './reserve.ts';
import { sessions } from './sessions.ts';
import { stats } from './stats.ts';

interface Suite {
  readonly title: string;
  run(rounds: number, isQuick: boolean): Promise<Figure[]>;
}

const SIZES = [100, 1_000, 10_000, 100_000];

export const SUITES = {
  decision: {
    title: 'the whole decision in process, at four fleet sizes',
    run: (rounds, isQuick) =>
      decision({ sizes: isQuick ? SIZES.slice(0, 2) : SIZES, rounds, perRound: isQuick ? 1_000 : 20_000 }),
  },
  heartbeats: {
    title: 'heartbeats, from the frame to the corrected view',
    run: (rounds, isQuick) => heartbeats({ nodes: isQuick ? 500 : 10_000, rounds }),
  },
  memory: {
    title: 'what a node and a job in flight weigh',
    run: (_, isQuick) => memory(isQuick ? { nodes: 500, jobs: 500 } : { nodes: 20_000, jobs: 50_000 }),
  },
  http: {
    title: 'HTTP dispatch next to an empty Fastify route',
    run: (rounds, isQuick) => http({ rounds: isQuick ? 1 : 3 * rounds, roundMs: isQuick ? 300 : 1_500 }),
  },
  cycle: {
    title: 'full cycles over real WebSockets',
    run: (rounds, isQuick) => cycle({ rounds, jobsPerRound: isQuick ? 200 : 4_000 }),
  },
  sessions: {
    title: 'idle and speaking sessions, chunks next to a bare echo, what an utterance waits',
    run: (rounds, isQuick) =>
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
  },
  redis: {
    title: 'the engine on Redis next to BullMQ',
    run: (rounds, isQuick) =>
      redis({ rounds, jobsPerRound: isQuick ? 200 : 5_000, rate: 200, pacedMs: isQuick ? 300 : 5_000 }),
  },
  'redis-cost': {
    title: 'what jobs and nodes ask of Redis, and what they leave there',
    run: (_, isQuick) =>
      redisCost(
        isQuick
          ? { alone: 20, together: 200, retentionMs: 1_000, nodes: 100 }
          : { alone: 200, together: 2_000, retentionMs: 6_000, nodes: 1_000 },
      ),
  },
  reserve: {
    title: 'how often the first node asked has a slot, with three instances',
    run: (rounds, isQuick) =>
      reserve(isQuick ? { serviceMs: 400, forMs: 400 } : { serviceMs: 1_000, forMs: rounds * 3_000 }),
  },
  stats: {
    title: 'dispatch beside a dashboard that asks all the time',
    run: (rounds, isQuick) =>
      stats({ rounds, roundMs: isQuick ? 500 : 5_000, idleNodes: isQuick ? 200 : 5_000 }),
  },
  hub: {
    title: 'dispatch without the ModelHub, and the price of refreshing',
    run: (rounds, isQuick) => hub({ rounds, roundMs: isQuick ? 500 : 5_000 }),
  },
  fairness: {
    title: 'how long one tenant waits while another floods',
    run: (rounds, isQuick) => fairness({ rounds, forMs: isQuick ? 400 : 8_000 }),
  },
} as const satisfies Record<string, Suite>;

export type SuiteName = keyof typeof SUITES;
export const SUITE_NAMES = Object.keys(SUITES) as SuiteName[];
export const isSuite = (name: string): name is SuiteName => name in SUITES;
