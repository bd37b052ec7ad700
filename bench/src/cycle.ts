/** The full cycle over real WebSockets: dispatch → job_assign → job_ack → job_result → released. Nodes run in their own process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createApp } from '../../packages/scheduler/dist/app/create-app.js';
import { benchConfig, request } from './embedded-engine.ts';
import { type Figure, median, percentile } from './measure.ts';
import { logLine } from './show.ts';

const NODES = 20;
const SLOTS = 16;
const CONCURRENCY = 64;
const AUDIO = Buffer.alloc(8_000);

export async function cycle(options: { rounds: number; jobsPerRound: number }): Promise<Figure[]> {
  const flags = [
    'server.port=0',
    'server.limits.messages_per_second=100000',
    'server.limits.messages_burst=100000',
  ];
  const app = createApp({
    config: benchConfig(flags),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const { port } = await app.start();
  const script = fileURLToPath(new URL('answering-nodes.js', import.meta.url));
  const args = [script, `ws://127.0.0.1:${port}/ws/node`, String(NODES), String(SLOTS)];
  const nodes = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(nodes.stdout, 'data');
  await allReady(app);

  async function one(): Promise<number> {
    const start = performance.now();
    const outcome = await app.jobs.dispatch(request(AUDIO));
    if (outcome.kind !== 'dispatched') throw new Error(outcome.message);
    const job = await app.reader.settled(outcome.job.jobId, 30_000);
    if (job?.result === undefined) throw new Error(`no result: ${job?.state} ${job?.failure?.code}`);
    return performance.now() - start;
  }

  async function round(jobs: number, concurrency: number): Promise<{ perSecond: number; sorted: number[] }> {
    const times: number[] = [];
    let left = jobs;
    const start = performance.now();
    const lane = async (): Promise<void> => {
      while (left-- > 0) times.push(await one());
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return { perSecond: (jobs * 1_000) / (performance.now() - start), sorted: times.sort((a, b) => a - b) };
  }

  await round(options.jobsPerRound / 2, CONCURRENCY);
  const rounds: { perSecond: number; sorted: number[] }[] = [];
  for (let i = 0; i < options.rounds; i++) {
    logLine(`cycle: round ${i + 1} of ${options.rounds}`);
    rounds.push(await round(options.jobsPerRound, CONCURRENCY));
  }
  const alone = await round(500, 1);
  nodes.stdin.end();
  await once(nodes, 'exit');
  await app.stop();
  const at = (share: number): number => median(rounds.map(({ sorted }) => percentile(sorted, share)));
  return [
    {
      scenario: 'cycle',
      name: `full cycles, ${CONCURRENCY} at once`,
      value: median(rounds.map(({ perSecond }) => perSecond)),
      unit: 'jobs/s',
    },
    { scenario: 'cycle', name: `p50, ${CONCURRENCY} at once`, value: at(0.5), unit: 'ms' },
    { scenario: 'cycle', name: `p99, ${CONCURRENCY} at once`, value: at(0.99), unit: 'ms' },
    { scenario: 'cycle', name: 'p50, one at a time', value: percentile(alone.sorted, 0.5), unit: 'ms' },
    { scenario: 'cycle', name: 'p99, one at a time', value: percentile(alone.sorted, 0.99), unit: 'ms' },
  ];
}

async function allReady(app: ReturnType<typeof createApp>): Promise<void> {
  const ready = (): number =>
    app.registry.list({ limit: 1_000 }).nodes.filter(({ view }) => view.health === 'ready').length;
  while (ready() < NODES) await new Promise((resolve) => setTimeout(resolve, 20));
}
