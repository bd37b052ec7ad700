/** Contestants of scenarios that measure jobs: each in its own process, on the same Redis. */
import { type Counts, createHistogram } from '../open-loop/histogram.ts';
import { type BenchRedis, serverCpuMicros } from '../redis/redis-server.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Figures, Who } from '../scenario/vocabulary.ts';
import { startChild } from './child.ts';
import type { Contestant, Driven, Round, RoundOrder } from './contestant.ts';
import type { Flooded, JobsOrder, JobsStart, Opened } from './jobs-process.ts';

export function latencyFigures({ dispatch, done, refused }: Driven): Figures {
  const times = createHistogram(dispatch);
  return {
    dispatch_p50_ms: times.percentile(0.5),
    dispatch_p99_ms: times.percentile(0.99),
    dispatch_p999_ms: times.percentile(0.999),
    refused_percent: (100 * refused) / Math.max(1, done + refused),
  };
}

export async function startJobs(
  who: Who,
  scenario: Scenario,
  redis: BenchRedis | undefined,
  floodJobs: number,
): Promise<Contestant> {
  const about: JobsStart = { who, scenario, redisPort: redis?.port ?? 0 };
  const child = await startChild('jobs-process', about);
  const ask = (order: JobsOrder): Promise<unknown> => child.ask(order);

  /** The next job begins as soon as one ends, with a fixed number in flight. */
  async function flood(): Promise<Figures> {
    if (scenario.inFlight === 0) return {};
    const before = redis === undefined ? 0 : await serverCpuMicros(redis);
    const { perSecond, cpuMicros } = (await ask({ kind: 'flood', jobs: floodJobs })) as Flooded;
    const own = { flood_per_second: perSecond, cpu_us: cpuMicros };
    if (redis === undefined || who === 'naive') return own;
    const redisMicros = ((await serverCpuMicros(redis)) - before) / floodJobs;
    return { ...own, redis_cpu_us: redisMicros, all_cpu_us: cpuMicros + redisMicros };
  }

  async function open(order: RoundOrder): Promise<Round & { readonly latencies: Counts }> {
    const { dispatch, done, refused, ...pauses } = (await ask({ kind: 'open', ...order })) as Opened;
    return { figures: { ...latencyFigures({ dispatch, done, refused }), ...pauses }, latencies: dispatch };
  }

  return {
    who,
    async round(order) {
      const { figures, latencies } = await open(order);
      return { figures: { ...figures, ...(await flood()) }, latencies };
    },
    probe: open,
    stop: () => child.stop(),
  };
}
