/**
 * Runs in its own process, so that its memory and CPU are its own: the scheduler, or a bare ws server that echoes every frame.
 * Argument: scheduler | echo. Sends its parent the port, and its figures on request.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createApp } from '../../packages/scheduler/dist/app/create-app.js';
import { startEchoServer } from './contest/echo-server.ts';
import { benchConfig } from './embedded-engine.ts';
import { collectGarbage, cpuMicros } from './measure.ts';

export interface ServerFigures {
  readonly rssBytes: number;
  readonly cpuMicros: number;
  /** Of the time since the last request. */
  readonly loopDelayP99Ms: number;
  /** Audio the scheduler holds for its sessions. */
  readonly audioBytes: number;
}

const ROOMY = [
  'server.port=0',
  'server.limits.messages_per_second=100000',
  'server.limits.messages_burst=100000',
  'server.limits.max_connections=20000',
  'server.limits.max_connections_per_tenant=20000',
  'server.limits.max_connections_per_address=20000',
  // Results are measured, not refusals.
  'session.max_utterances=1000',
];

interface Server {
  readonly port: number;
  audioBytes(): Promise<number>;
}

async function readGauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(url)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function startScheduler(): Promise<Server> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const app = createApp({ config: benchConfig(ROOMY), log });
  const { port } = await app.start();
  return {
    port,
    audioBytes: () => readGauge(`http://127.0.0.1:${port}/metrics`, 'scheduler_audio_store_bytes'),
  };
}

async function startEcho(): Promise<Server> {
  return { port: await startEchoServer(), audioBytes: async () => 0 };
}

const server = process.argv[2] === 'echo' ? await startEcho() : await startScheduler();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', (question: { collect: boolean }) => {
  void answer(question.collect);
});
process.on('disconnect', () => process.exit(0));

async function answer(collects: boolean): Promise<void> {
  if (collects) await collectGarbage();
  const figures: ServerFigures = {
    rssBytes: process.memoryUsage.rss(),
    cpuMicros: cpuMicros(),
    loopDelayP99Ms: delay.percentile(99) / 1e6,
    audioBytes: await server.audioBytes(),
  };
  delay.reset();
  process.send?.(figures);
}

process.send?.({ port: server.port });
