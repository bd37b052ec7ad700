/**
 * Sessions: the memory of an idle one, how many chunks a process takes next to a bare echo, and what the scheduler adds to an
 * utterance.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Figure, median } from './measure.ts';
import type { ServerFigures } from './session-server.ts';
import { logLine } from './show.ts';

const script = (name: string): string => fileURLToPath(new URL(`${name}.js`, import.meta.url));

interface Server {
  readonly port: number;
  ask(collect?: boolean): Promise<ServerFigures>;
  stop(): Promise<void>;
}

async function startServer(kind: 'scheduler' | 'echo'): Promise<Server> {
  const child: ChildProcess = fork(script('session-server'), [kind]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async ask(collect = false) {
      child.send({ collect });
      const [figures] = (await once(child, 'message')) as [ServerFigures];
      return figures;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

interface Load {
  readonly result: Record<string, number>;
  stop(): Promise<void>;
}

/** Resolves when the load has reported; its connections stay open until it is stopped. */
async function load(mode: string, port: number, ...args: number[]): Promise<Load> {
  const child = spawn(process.execPath, [script('session-load'), mode, String(port), ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`the ${mode} load ended without a result`);
  return {
    result: JSON.parse(String(line[0])) as Record<string, number>,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

const KB = 1_024;

export interface SessionOptions {
  readonly rounds: number;
  readonly idle: number;
  readonly speaking: number;
  readonly pacedMs: number;
  readonly floodMs: number;
  readonly rate: number;
  readonly utterancesMs: number;
}

export async function sessions(options: SessionOptions): Promise<Figure[]> {
  return [
    ...(await idle(options.idle)),
    ...(await paced(options)),
    ...(await flood(options)),
    ...(await utterances(options)),
  ].map((figure) => ({ scenario: 'sessions', ...figure }));
}

type Row = Omit<Figure, 'scenario'>;

async function idle(count: number): Promise<Row[]> {
  logLine(`sessions: ${count} idle ones`);
  const server = await startServer('scheduler');
  // Once before: what the first sessions warm up is not counted.
  const first = await load('idle', server.port, Math.min(200, count));
  await first.stop();
  const empty = await server.ask(true);
  const open = await load('idle', server.port, count);
  const full = await server.ask(true);
  await open.stop();
  await server.stop();
  return [
    {
      name: `memory (RSS) per idle session, ${count} of them`,
      value: (full.rssBytes - empty.rssBytes) / count / KB,
      unit: 'KB',
      target: { atMost: 25 },
    },
  ];
}

async function paced({ speaking, pacedMs }: SessionOptions): Promise<Row[]> {
  logLine(`sessions: ${speaking} speaking for ${pacedMs / 1_000} s`);
  const server = await startServer('scheduler');
  await (await load('paced', server.port, Math.min(100, speaking), 500)).stop();
  const before = await server.ask();
  const spoken = await load('paced', server.port, speaking, pacedMs);
  const after = await server.ask();
  await spoken.stop();
  await server.stop();
  const { chunks = 0, bytes = 0, perSecond = 0 } = spoken.result;
  // Earlier sessions may resume, so their audio is still held.
  const kept = after.audioBytes - before.audioBytes;
  const lost = (bytes - kept) / (bytes / chunks);
  const cpu = after.cpuMicros - before.cpuMicros;
  return [
    { name: `chunks of 3 KB, ${speaking} sessions`, value: perSecond, unit: 'chunks/s' },
    { name: 'chunks lost', value: lost, unit: 'chunks', target: { atMost: 0 } },
    {
      name: 'event loop delay p99 meanwhile',
      value: after.loopDelayP99Ms,
      unit: 'ms',
      target: { atMost: 50 },
    },
    { name: 'CPU per chunk', value: cpu / chunks, unit: 'µs' },
    { name: 'CPU meanwhile', value: (cpu / (chunks / perSecond) / 1e6) * 100, unit: '% of a core' },
  ];
}

async function flood({ rounds, floodMs }: SessionOptions): Promise<Row[]> {
  const servers = { scheduler: await startServer('scheduler'), echo: await startServer('echo') };
  const seen = { scheduler: [] as number[], echo: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    logLine(round === 0 ? 'sessions: flood, warming up' : `sessions: flood, round ${round} of ${rounds}`);
    for (const kind of ['scheduler', 'echo'] as const) {
      const flooded = await load('flood', servers[kind].port, 50, floodMs);
      await flooded.stop();
      if (round > 0) seen[kind].push(flooded.result.perSecond ?? 0);
    }
  }
  await Promise.all([servers.scheduler.stop(), servers.echo.stop()]);
  const ratios = seen.scheduler.map((rate, round) => rate / (seen.echo[round] ?? Number.NaN));
  return [
    { name: 'chunks at most', value: median(seen.scheduler), unit: 'chunks/s' },
    { name: 'bare ws echo, same frames', value: median(seen.echo), unit: 'chunks/s' },
    { name: 'chunks ÷ echo', value: median(ratios), unit: '×', target: { atLeast: 0.5 } },
  ];
}

async function utterances({ rate, utterancesMs }: SessionOptions): Promise<Row[]> {
  logLine(`sessions: ${rate} utterances/s for ${utterancesMs / 1_000} s`);
  const server = await startServer('scheduler');
  await (await load('utterances', server.port, rate, Math.min(2_000, utterancesMs))).stop();
  const spoken = await load('utterances', server.port, rate, utterancesMs);
  await spoken.stop();
  await server.stop();
  const { utterances: sent = 0, results = 0, inP50, inP99, outP50, outP99 } = spoken.result;
  if (results !== sent) throw new Error(`${sent - results} of ${sent} utterances had no result`);
  const row = (name: string, value = Number.NaN): Row => ({ name, value, unit: 'ms' });
  return [
    row(`last chunk → job_assign p50, ${rate} utterances/s`, inP50),
    row('last chunk → job_assign p99', inP99),
    row('job_result → translation_result p50', outP50),
    row('job_result → translation_result p99', outP99),
  ];
}
