/** Contestants of scenarios that measure requests or sessions: servers in their own processes, and the load in another. */
import { createHistogram } from '../open-loop/histogram.ts';
import { type BenchRedis, serverCpuMicros } from '../redis/redis-server.ts';
import { watchWire } from '../redis/wire.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type Figures, OURS, type Who } from '../scenario/vocabulary.ts';
import { type Child, startChild } from './child.ts';
import type { Contestant, Driven, Round, RoundOrder } from './contestant.ts';
import { latencyFigures } from './jobs.ts';
import type { LoadOrder, LoadStart } from './load-process.ts';
import type { ServerReport, ServerStart } from './server-process.ts';
import type { PauseFigures } from './watch-pauses.ts';

const KB = 1_024;
/** Watching every command costs Redis half its speed: a short time is enough to count them. */
const COUNTED_SECONDS = 3;

/** Its own name for every fleet on one Redis: earlier ones may still be there. */
let fleets = 0;

async function startServers(who: Who, scenario: Scenario, redis: BenchRedis | undefined): Promise<Child[]> {
  const prefix = `fleet${fleets++}`;
  const about: ServerStart = {
    who,
    ...(redis !== undefined && who === OURS && { redis: { port: redis.port, prefix } }),
  };
  const servers: Child[] = [];
  // One after the other: each finds the earlier ones.
  for (let i = 0; i < (who === OURS ? scenario.instances : 1); i++)
    servers.push(await startChild('server-process', about));
  return servers;
}

export async function startServed(
  who: Who,
  scenario: Scenario,
  redis: BenchRedis | undefined,
): Promise<Contestant> {
  const isOurs = who === OURS;
  const servers = await startServers(who, scenario, redis);
  const ports = servers.map(({ ready }) => (ready as { port: number }).port);
  const about: LoadStart = { scenario, ports, isBare: !isOurs };
  const load = await startChild('load-process', about);
  const order = (what: LoadOrder): Promise<unknown> => load.ask(what);

  async function look(
    collects: boolean,
  ): Promise<{ rssBytes: number; cpuMicros: number; pauses: PauseFigures[] }> {
    const reports = (await Promise.all(servers.map((each) => each.ask({ collects })))) as ServerReport[];
    return {
      rssBytes: reports.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
      cpuMicros: reports.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0),
      pauses: reports.map(({ pauses }) => pauses),
    };
  }

  const empty = await look(true);
  await order({ kind: 'connect' });
  const connected = await look(true);
  const ofSessions: Figures =
    scenario.measures === 'sessions'
      ? { kb_per_session: (connected.rssBytes - empty.rssBytes) / scenario.sessions / KB }
      : {};

  async function round(roundOrder: RoundOrder): Promise<Round> {
    const redisBefore = redis === undefined ? 0 : await serverCpuMicros(redis);
    const before = await look(false);
    const start = performance.now();
    const driven = (await order({ kind: 'open', ...roundOrder })) as Driven;
    const tookMs = performance.now() - start;
    const after = await look(false);
    const cpu = after.cpuMicros - before.cpuMicros;
    const jobs = Math.max(1, driven.done + driven.refused);
    const answer = driven.answer === undefined ? undefined : createHistogram(driven.answer);
    const figures: Figures = {
      ...(driven.dispatch.buckets.length > 0 && latencyFigures(driven)),
      ...(answer !== undefined && {
        answer_p50_ms: answer.percentile(0.5),
        answer_p99_ms: answer.percentile(0.99),
      }),
      cpu_us: cpu / jobs,
      ...(redis !== undefined &&
        isOurs && { redis_cpu_us: ((await serverCpuMicros(redis)) - redisBefore) / jobs }),
      ...ofSessions,
      ...(scenario.measures === 'sessions' && {
        cpu_us_per_session: cpu / scenario.sessions / (tookMs / 1_000),
      }),
      ...worst(after.pauses),
    };
    return { figures, latencies: isOurs ? driven.dispatch : (driven.answer ?? driven.dispatch) };
  }

  return {
    who,
    round,
    probe: round,
    ...(redis !== undefined &&
      isOurs && {
        async count(roundOrder: RoundOrder): Promise<Figures> {
          const wire = await watchWire(redis);
          let done = 0;
          const { commands } = await wire.during(async () => {
            const seconds = Math.min(COUNTED_SECONDS, roundOrder.seconds);
            done = ((await order({ kind: 'open', ...roundOrder, seconds })) as Driven).done;
          });
          wire.stop();
          return { redis_commands: commands.length / Math.max(1, done) };
        },
      }),
    async stop() {
      // Nodes and clients first: they would try to reconnect to servers that are gone.
      await load.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Of several instances the worst: a client may use any of them. */
function worst(pauses: readonly PauseFigures[]): Figures {
  const most = (figure: keyof PauseFigures): number => Math.max(...pauses.map((each) => each[figure] ?? 0));
  return {
    gc_p999_ms: most('gc_p999_ms'),
    gc_max_ms: most('gc_max_ms'),
    loop_p999_ms: most('loop_p999_ms'),
    loop_max_ms: most('loop_max_ms'),
    loop_own_p999_ms: most('loop_own_p999_ms'),
    loop_own_max_ms: most('loop_own_max_ms'),
  };
}
