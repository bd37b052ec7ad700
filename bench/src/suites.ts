/** The programs of the suites, and how large each is. */
import { consolePage } from './console.ts';
import { cycle } from './cycle.ts';
import { decision } from './decision.ts';
import { fairness } from './fairness.ts';
import { heartbeats } from './heartbeats.ts';
import { http } from './http.ts';
import { hub } from './hub.ts';
import { live } from './live.ts';
import type { Figure } from './measure.ts';
import { memory } from './memory.ts';
import { oneLanguage } from './one-language.ts';
import { redis } from './redis.ts';
import { redisCost } from './redis-cost.ts';
import { reserve } from './reserve.ts';
import { rooms } from './rooms/rooms.ts';
import { sessions } from './sessions.ts';
import { stages } from './stages.ts';
import { stats } from './stats.ts';
import type { SuiteName } from './suite-titles.ts';

const SIZES = [100, 1_000, 10_000, 100_000];

type RunSuite = (rounds: number, isQuick: boolean) => Promise<Figure[]>;

export const SUITES: Readonly<Record<SuiteName, RunSuite>> = {
  decision: (rounds, isQuick) =>
    decision({ sizes: isQuick ? SIZES.slice(0, 2) : SIZES, rounds, perRound: isQuick ? 1_000 : 20_000 }),
  heartbeats: (rounds, isQuick) => heartbeats({ nodes: isQuick ? 500 : 10_000, rounds }),
  memory: (_, isQuick) => memory(isQuick ? { nodes: 500, jobs: 500 } : { nodes: 20_000, jobs: 50_000 }),
  http: (rounds, isQuick) =>
    http(
      isQuick
        ? { rounds: 1, burstsPerRound: 1, warmBursts: 1 }
        : { rounds: 3 * rounds, burstsPerRound: 10, warmBursts: 20 },
    ),
  cycle: (rounds, isQuick) => cycle({ rounds, jobsPerRound: isQuick ? 200 : 4_000 }),
  sessions: (rounds, isQuick) =>
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
  redis: (rounds, isQuick) =>
    redis({ rounds, jobsPerRound: isQuick ? 200 : 5_000, rate: 200, pacedMs: isQuick ? 300 : 5_000 }),
  'redis-cost': (_, isQuick) =>
    redisCost(
      isQuick
        ? {
            alone: 20,
            together: 200,
            retentionMs: 1_000,
            nodes: 100,
            registrations: 10,
            usual: 2,
            idleMs: 300,
            settleMs: 300,
          }
        : {
            alone: 200,
            together: 2_000,
            retentionMs: 6_000,
            nodes: 1_000,
            registrations: 200,
            usual: 20,
            idleMs: 8_000,
            settleMs: 11_000,
          },
    ),
  reserve: (rounds, isQuick) =>
    reserve(isQuick ? { serviceMs: 400, forMs: 400 } : { serviceMs: 1_000, forMs: rounds * 3_000 }),
  stats: (rounds, isQuick) =>
    stats({ rounds, roundMs: isQuick ? 500 : 5_000, idleNodes: isQuick ? 200 : 5_000 }),
  live: (rounds, isQuick) =>
    live(
      isQuick
        ? { rounds, roundMs: 1_500, idleNodes: 200, viewers: 5, rate: 200 }
        : { rounds, roundMs: 5_000, idleNodes: 1_000, viewers: 50, rate: 1_000 },
    ),
  console: (rounds, isQuick) =>
    consolePage(
      isQuick
        ? { rounds: 1, watchMs: 500, idleNodes: 200, jobs: 200, fillRate: 1_000, rate: 200 }
        : {
            rounds,
            watchMs: 10_000,
            idleNodes: 10_000,
            jobs: 100_000,
            fillRate: 2_000,
            rate: 500,
          },
    ),
  stages: async (rounds, isQuick) => [
    ...(await stages({ utterances: isQuick ? 40 : 2_000 })),
    ...(await oneLanguage(
      isQuick ? { rounds: 1, requests: 40, workMs: 20 } : { rounds, requests: 640, workMs: 300 },
    )),
  ],
  rooms: (_, isQuick) =>
    rooms(
      isQuick
        ? { listeners: [60], utterances: 4, everyMs: 200, rooms: 10, membersPerRoom: 5 }
        : { listeners: [3_000, 10_000], utterances: 60, everyMs: 1_000, rooms: 1_000, membersPerRoom: 5 },
    ),
  hub: (rounds, isQuick) => hub({ rounds, roundMs: isQuick ? 500 : 5_000 }),
  fairness: (rounds, isQuick) => fairness({ rounds, forMs: isQuick ? 400 : 8_000 }),
};
