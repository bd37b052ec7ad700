/**
 * HTTP dispatch next to an empty Fastify route with the same body schema: same run, same client, taking turns. Both are warm before
 * anything counts: compiling the scheduler, which is a hundred times as much code, is not what a request costs. Jobs end between the
 * rounds, uncounted: a node's answer is a request of its own. That they are all alive during a round is counted, as collecting garbage is.
 */
import { execFile } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DispatchRequest } from '@lingua/protocol';
import fastify from 'fastify';
import { systemClock } from '../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../packages/scheduler/dist/adapters/system/id-source.js';
import { accessSettings, httpSettings } from '../../packages/scheduler/dist/settings-from-config.js';
import { createGate } from '../../packages/scheduler/dist/transport/access/create-gate.js';
import { createHttpServer } from '../../packages/scheduler/dist/transport/http/create-http-server.js';
import { benchConfig, createEmbeddedEngine, RESULT } from './embedded-engine.ts';
import { cpuMicros, type Figure, median } from './measure.ts';
import { say } from './show.ts';

const CONNECTIONS = 64;
const BODY = JSON.stringify({
  session_id: 'room-888',
  src_lang: 'en',
  tgt_lang: 'zh',
  audio_ref: 'blob://audio/1',
  options: { require_tts: false },
});
const WARM_REQUESTS = 30_000;
const MOST_WARMING_ROUNDS = 20;
const client = fileURLToPath(new URL('load-client.js', import.meta.url));

interface Load {
  readonly requests: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
}

export interface HttpOptions {
  readonly rounds: number;
  readonly roundMs: number;
  /** Answered by each before anything counts; 30,000 unless told: after that their code has long been compiled for good. */
  readonly warmRequests?: number;
}

async function load(port: number, path: string, forMs: number): Promise<Load & { cpu: number }> {
  const args = [client, String(port), path, BODY, String(CONNECTIONS), String(forMs)];
  const start = cpuMicros();
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const measured = JSON.parse(stdout) as Load;
  return { ...measured, cpu: (cpuMicros() - start) / measured.requests };
}

async function startEmpty(): Promise<{ port: number; close(): Promise<void> }> {
  // Our schemas carry notes for the documents, which the validator is to pass over.
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
  // Room for every job of a round: they end between the rounds, so that a round measures dispatch alone. Rounds are short,
  // so that no more jobs are in flight at once than a real fleet has.
  const held: { jobId: string; nodeId: string }[] = [];
  const engine = await createEmbeddedEngine(1_000, 1_000, ({ job: { jobId }, nodeId }) =>
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
    sessions: { list: () => ({ sessions: [] }) },
    mailbox: { take: async () => [] },
    endpoints: { permits: () => false },
    gate: createGate({ clock: systemClock, meter, settings: accessSettings(config) }),
    ids: createIdSource({ clock: systemClock, digestsRequests: false }),
    meter,
    log: quiet,
    clock: systemClock,
    readiness: () => ({ isReady: true, reasons: [] }),
    settings: httpSettings(config, 'bench', undefined),
  });
  const { port } = await http.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    async finishAll() {
      for (const { jobId, nodeId } of held.splice(0))
        await engine.jobs.finish({ jobId, nodeId, attempt: 1 }, RESULT);
      await engine.beatAll();
    },
    async close() {
      await http.close();
      engine.stop();
    },
  };
}

export async function http(options: HttpOptions): Promise<Figure[]> {
  const empty = await startEmpty();
  const scheduler = await startScheduler();
  const ratios: number[] = [];
  const rates: number[] = [];
  const bare: number[] = [];
  const p99: number[] = [];
  const cpu: number[] = [];
  const bareCpu: number[] = [];
  const loadBoth = async () => {
    const dispatched = await load(scheduler.port, '/v1/dispatch/f2f', options.roundMs);
    await scheduler.finishAll();
    const nothing = await load(empty.port, '/empty', options.roundMs);
    if (dispatched.errors + nothing.errors > 0)
      throw new Error(`${dispatched.errors} dispatches and ${nothing.errors} empty requests failed`);
    return { dispatched, nothing };
  };
  const { warmRequests = WARM_REQUESTS } = options;
  let warmed = 0;
  for (let round = 0; warmed < warmRequests && round < MOST_WARMING_ROUNDS; round++) {
    say('http: warming up');
    const { dispatched, nothing } = await loadBoth();
    warmed += Math.min(dispatched.requests, nothing.requests);
  }
  for (let round = 1; round <= options.rounds; round++) {
    say(`http: round ${round} of ${options.rounds}`);
    const { dispatched, nothing } = await loadBoth();
    rates.push((dispatched.requests / options.roundMs) * 1_000);
    bare.push((nothing.requests / options.roundMs) * 1_000);
    ratios.push(dispatched.requests / nothing.requests);
    p99.push(dispatched.p99);
    cpu.push(dispatched.cpu);
    bareCpu.push(nothing.cpu);
  }
  await empty.close();
  await scheduler.close();
  return [
    { scenario: 'http', name: 'dispatch', value: median(rates), unit: 'requests/s' },
    { scenario: 'http', name: 'empty Fastify route, same schema', value: median(bare), unit: 'requests/s' },
    {
      scenario: 'http',
      name: 'dispatch ÷ empty route',
      value: median(ratios),
      unit: '×',
      target: { atLeast: 0.7 },
    },
    { scenario: 'http', name: 'CPU per dispatch', value: median(cpu), unit: 'µs' },
    { scenario: 'http', name: 'CPU per empty request', value: median(bareCpu), unit: 'µs' },
    {
      scenario: 'http',
      name: `dispatch p99, ${CONNECTIONS} connections, saturated`,
      value: median(p99),
      unit: 'ms',
    },
  ];
}
