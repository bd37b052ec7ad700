/** The whole scheduler on Redis with real WebSocket legs: its nodes run in their own process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../packages/scheduler/dist/adapters/system/clock.js';
import { type App, createApp } from '../../../packages/scheduler/dist/app/create-app.js';
import { openSharedStore } from '../../../packages/scheduler/dist/app/redis-store.js';
import { isSettled } from '../../../packages/scheduler/dist/domain/job.js';
import { benchConfig, request } from '../embedded-engine.ts';
import { QUIET } from '../engine.ts';
import type { Contestant } from './contestant.ts';

const NODES = 20;
const SLOTS = 16;
const MOST_TRIES = 100;
const AUDIO = Buffer.alloc(8_000);

export const sharedFlags = (port: number, prefix: string): string[] => [
  'server.port=0',
  'server.limits.messages_per_second=100000',
  'server.limits.messages_burst=100000',
  'scheduler.cluster.enabled=true',
  `scheduler.cluster.redis.url=redis://127.0.0.1:${port}`,
  `scheduler.cluster.redis.key_prefix=${prefix}`,
];

export async function startSharedApp(flags: readonly string[]): Promise<{ app: App; port: number }> {
  const config = benchConfig(flags);
  const shared = await openSharedStore({ config, clock: systemClock, log: QUIET });
  const app = createApp({ config, log: QUIET, shared });
  return { app, port: (await app.start()).port };
}

export async function startNodes(port: number, count: number, slots: number, workMs = 0) {
  const script = fileURLToPath(new URL('../answering-nodes.js', import.meta.url));
  const args = [script, `ws://127.0.0.1:${port}/ws/node`, String(count), String(slots), String(workMs)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const ready = await Promise.race([once(child.stdout, 'data'), exited.then(() => undefined)]);
  if (ready === undefined) throw new Error('the process of the nodes ended');
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

export async function untilReady({ registry }: App, nodes: number): Promise<void> {
  const ready = (): number =>
    registry.list({ limit: nodes }).nodes.filter(({ view }) => view.health === 'ready').length;
  while (ready() < nodes) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * `isNodeElsewhere`: its jobs arrive at another instance than its nodes. `workMs`: how long each takes there. `nodes`: each adds
 * periodic commands, which make the counts vary.
 */
export async function createAppContestant(options: {
  port: number;
  prefix: string;
  isNodeElsewhere?: boolean;
  workMs?: number;
  nodes?: number;
}): Promise<Contestant> {
  const { nodes: count = NODES } = options;
  const flags = sharedFlags(options.port, options.prefix);
  const holder = await startSharedApp(flags);
  const nodes = await startNodes(holder.port, count, (NODES * SLOTS) / count, options.workMs);
  await untilReady(holder.app, count);
  const { app } = options.isNodeElsewhere === true ? await startSharedApp(flags) : holder;
  const contestant = drivenBy(app, nodes, async () => {
    await nodes.stop();
    await app.stop();
    if (app !== holder.app) await holder.app.stop();
  });
  // It may have to learn of the nodes first.
  await firstJob(contestant);
  return contestant;
}

async function firstJob(contestant: Contestant): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await contestant.run();
    } catch (fault) {
      if (tries === MOST_TRIES) throw fault;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function drivenBy(app: App, nodes: { readonly pid: number }, stop: () => Promise<void>): Contestant {
  return {
    async run(left = () => {}) {
      let end: (fault?: Error) => void = () => {};
      const ended = new Promise<void>((resolve, reject) => {
        end = (fault) => (fault === undefined ? resolve() : reject(fault));
      });
      const outcome = await app.jobs.dispatch({
        ...request(AUDIO),
        admitted: ({ jobId }) => watchEnd(app, jobId, end),
      });
      if (outcome.kind !== 'dispatched') throw new Error(outcome.message);
      left();
      await ended;
    },
    tidy: async () => {},
    otherCpuMicros: async () => processCpuMicros(nodes.pid),
    stop,
  };
}

/** As sessions do, which are notified and need not read the store. */
function watchEnd({ reader }: App, jobId: string, end: (fault?: Error) => void): void {
  const watch = reader.watch(jobId, ({ state, result, failure }) => {
    if (!isSettled(state)) return;
    if (watch.kind === 'subscribed') watch.stop();
    end(result === undefined ? new Error(`no result: ${failure?.code}`) : undefined);
  });
  if (watch.kind === 'full') end(new Error('too many jobs are watched'));
}

/** Of one clock tick, as every Linux counts them for /proc. */
const TICK_MICROS = 10_000;

function processCpuMicros(pid: number): number {
  // The name, in parentheses, may contain anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}
