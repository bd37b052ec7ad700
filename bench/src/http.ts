/**
 * HTTP dispatch next to an empty Fastify route with the same body schema: same run, same client, taking turns. Both are warm before
 * anything counts: compiling the scheduler, which is a hundred times as much code, is not what a request costs.
 *
 * The fleet is 1,000 nodes of four slots, 70 % busy. A burst begins with half its slots taken and ends with nine tenths; then the oldest
 * jobs end, uncounted: a node's report is a request of its own. A round is many bursts of one and then of the other, put together: the
 * collector works in some bursts and not in others, so a median over bursts would leave out what it costs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { DispatchRequest } from '@lingua/protocol';
import fastify from 'fastify';
import { systemClock } from '../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../packages/scheduler/dist/adapters/system/id-source.js';
import {
  accessSettings,
  httpSettings,
} from '../../packages/scheduler/dist/app/settings/settings-from-config.js';
import { createGate } from '../../packages/scheduler/dist/transport/access/create-gate.js';
import { createHttpServer } from '../../packages/scheduler/dist/transport/http/server/create-http-server.js';
import { benchConfig, createEmbeddedEngine, RESULT } from './embedded-engine.ts';
import type { Burst } from './load-client.ts';
import { cpuMicros, type Figure, median, percentile } from './measure.ts';
import { logLine } from './show.ts';

const CONNECTIONS = 64;
const BODY = JSON.stringify({
  session_id: 'room-888',
  src_lang: 'en',
  tgt_lang: 'zh',
  audio_ref: 'blob://audio/1',
  options: { require_tts: false },
});
const NODES = 1_000;
const SLOTS = 4;
/** In flight when a burst begins. */
const STANDING = 0.5 * NODES * SLOTS;
const BURST = 0.4 * NODES * SLOTS;
const client = fileURLToPath(new URL('load-client.js', import.meta.url));

interface Load {
  /** Per second. */
  readonly rate: number;
  readonly p99: number;
  /** Microseconds per request. */
  readonly cpu: number;
}

export interface HttpOptions {
  readonly rounds: number;
  readonly burstsPerRound: number;
  /** Before anything counts; after 20 their code has long been compiled for good. */
  readonly warmBursts: number;
}

async function startClient(port: number, path: string): Promise<ChildProcess> {
  const child = fork(client, [String(port), path, BODY, String(CONNECTIONS)], { execArgv: [] });
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`the client of ${path} ended early`);
  });
  await once(child, 'message');
  return child;
}

/** Bursts, with `tidy` after each, not counted. */
async function load(from: ChildProcess, bursts: number, tidy: () => Promise<void>): Promise<Load> {
  const latencies: number[] = [];
  let errors = 0;
  let tookMs = 0;
  let cpu = 0;
  for (let i = 0; i < bursts; i++) {
    const start = cpuMicros();
    from.send(BURST);
    const [burst] = (await once(from, 'message')) as [Burst];
    cpu += cpuMicros() - start;
    errors += burst.errors;
    tookMs += burst.tookMs;
    latencies.push(...burst.latencies);
    await tidy();
  }
  if (errors > 0) throw new Error(`${errors} of ${latencies.length} requests failed`);
  latencies.sort((a, b) => a - b);
  const requests = latencies.length;
  return { rate: (requests / tookMs) * 1_000, p99: percentile(latencies, 0.99), cpu: cpu / requests };
}

async function startEmpty(): Promise<{ port: number; close(): Promise<void> }> {
  // Our schemas carry notes for the documents, which the validator must ignore.
  const app = fastify({ ajv: { customOptions: { strict: false } } });
  app.post('/empty', { schema: { body: DispatchRequest } }, () => ({
    job_id: 'job-1',
    node_id: 'node-1',
    attempt_id: 1,
  }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

async function startScheduler() {
  const held: { jobId: string; nodeId: string }[] = [];
  const engine = await createEmbeddedEngine(NODES, SLOTS, ({ job: { jobId }, nodeId }) =>
    held.push({ jobId, nodeId }),
  );
  const limits = [
    'server.limits.requests_per_second=1000000',
    'server.limits.requests_per_second_per_tenant=1000000',
  ];
  const config = benchConfig(limits);
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const meter = { count() {}, gauge() {}, observe() {} };
  const http = createHttpServer({
    registry: engine.registry,
    jobs: engine.jobs,
    reader: {
      get: async () => undefined,
      list: async () => ({ jobs: [] }),
      settled: async () => undefined,
      watch: () => ({ kind: 'full' }),
    },
    sessions: { list: () => ({ sessions: [] }), close: () => false },
    onPartial: () => {},
    recentAttempts: { of: () => [] },
    mailbox: { take: async () => [] },
    endpoints: { permits: () => false },
    gate: createGate({ clock: systemClock, meter, settings: accessSettings(config, 'bench') }),
    ids: createIdSource({ clock: systemClock, digestsRequests: false }),
    meter,
    log: quiet,
    audit: { record() {} },
    clock: systemClock,
    readiness: () => ({ isReady: true, reasons: [] }),
    settings: httpSettings(config, 'bench', undefined),
  });
  const { port } = await http.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    async endOldest() {
      for (const { jobId, nodeId } of held.splice(0, Math.max(0, held.length - STANDING)))
        await engine.jobs.finish({ jobId, nodeId, attempt: 1 }, RESULT);
    },
    beatAll: engine.beatAll,
    async close() {
      await http.close();
      engine.stop();
    },
  };
}

export async function http(options: HttpOptions): Promise<Figure[]> {
  const empty = await startEmpty();
  const scheduler = await startScheduler();
  const dispatching = await startClient(scheduler.port, '/v1/dispatch/f2f');
  const asking = await startClient(empty.port, '/empty');
  const loadBoth = async (bursts: number): Promise<[Load, Load]> => {
    await scheduler.beatAll();
    return [await load(dispatching, bursts, scheduler.endOldest), await load(asking, bursts, async () => {})];
  };
  logLine('http: warming up');
  await loadBoth(options.warmBursts);
  const rounds: [Load, Load][] = [];
  for (let round = 1; round <= options.rounds; round++) {
    logLine(`http: round ${round} of ${options.rounds}`);
    rounds.push(await loadBoth(options.burstsPerRound));
  }
  for (const child of [dispatching, asking]) {
    child.disconnect();
    await once(child, 'exit');
  }
  await empty.close();
  await scheduler.close();
  const of = (read: (dispatch: Load, bare: Load) => number): number =>
    median(rounds.map(([dispatch, bare]) => read(dispatch, bare)));
  return [
    { scenario: 'http', name: 'dispatch', value: of(({ rate }) => rate), unit: 'requests/s' },
    {
      scenario: 'http',
      name: 'empty Fastify route, same schema',
      value: of((_, { rate }) => rate),
      unit: 'requests/s',
    },
    {
      scenario: 'http',
      name: 'dispatch ÷ empty route',
      value: of((dispatch, bare) => dispatch.rate / bare.rate),
      unit: '×',
      target: { atLeast: 0.65 },
    },
    { scenario: 'http', name: 'CPU per dispatch', value: of(({ cpu }) => cpu), unit: 'µs' },
    { scenario: 'http', name: 'CPU per empty request', value: of((_, { cpu }) => cpu), unit: 'µs' },
    {
      scenario: 'http',
      name: `dispatch p99, ${CONNECTIONS} connections, saturated`,
      value: of(({ p99 }) => p99),
      unit: 'ms',
    },
  ];
}
