/** The bench's own redis-server: on a free port, without disk, ended with the bench. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectRedis,
  type RedisConnection,
  type RedisSettings,
  whenReady,
} from '../../../packages/scheduler/dist/adapters/redis/connection/redis-connection.js';

const HOST = '127.0.0.1';
const START_MS = 10_000;
/** Another program may take a port between finding it free and listening on it. */
const MOST_TRIES = 5;

export interface BenchRedis {
  readonly port: number;
  /** The bench's own connection: its commands are not counted. */
  readonly observer: RedisConnection;
  stop(): Promise<void>;
}

/** A busy machine is no fault: commands may take long. */
export const redisSettings = (port: number): RedisSettings => ({
  mode: 'single',
  url: `redis://${HOST}:${port}`,
  clusterUrls: [],
  sentinelUrls: [],
  sentinelName: 'mymaster',
  db: 0,
  isTls: false,
  connectTimeoutMs: 5_000,
  commandTimeoutMs: 20_000,
  socketTimeoutMs: 30_000,
  slotsRefreshIntervalMs: 1_000,
});

export async function connectTo(port: number, name: string, isListening = false): Promise<RedisConnection> {
  const connection = connectRedis(redisSettings(port), { name, isListening });
  try {
    await whenReady(connection, START_MS);
  } catch (fault) {
    connection.disconnect();
    throw fault;
  }
  return connection;
}

export async function startRedisServer(): Promise<BenchRedis> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryStart();
    } catch (fault) {
      if (tries === MOST_TRIES || (fault as { cause?: { code?: string } }).cause?.code === 'ENOENT')
        throw fault;
    }
  }
}

const running = new Map<ChildProcess, string>();
let isWatching = false;

function endAll(): void {
  for (const [child, nodeIdClaims] of running) {
    child.kill('SIGKILL');
    rmSync(nodeIdClaims, { recursive: true, force: true });
  }
  running.clear();
}

/** An interrupted bench does not reach the code that stops its servers. */
function endWithProcess(): void {
  if (isWatching) return;
  isWatching = true;
  process.once('exit', endAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      endAll();
      // Then with the default behaviour of the signal.
      process.kill(process.pid, signal);
    });
  }
}

async function tryStart(): Promise<BenchRedis> {
  const nodeIdClaims = mkdtempSync(join(tmpdir(), 'lingua-bench-redis-'));
  const port = await freePort();
  const where = ['--port', String(port), '--bind', HOST, '--dir', nodeIdClaims];
  const child = spawn('redis-server', [...where, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  endWithProcess();
  running.set(child, nodeIdClaims);
  const ended = new Promise<Error>((resolve) => {
    child.once('error', (cause) =>
      resolve(new Error('redis-server could not be started: is it installed?', { cause })),
    );
    child.once('exit', (code) => resolve(new Error(`redis-server ended with ${code}`)));
  });
  async function stop(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
    running.delete(child);
    rmSync(nodeIdClaims, { recursive: true, force: true });
  }
  try {
    const observer = await Promise.race([
      connectTo(port, 'bench'),
      ended.then((fault) => Promise.reject(fault)),
    ]);
    // Another server may have the port.
    if (!(await observer.info('server')).includes(`process_id:${child.pid}\r`))
      throw new Error(`port ${port} was taken`);
    return {
      port,
      observer,
      async stop() {
        observer.disconnect();
        await stop();
      },
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Microseconds of CPU the server has used. */
export async function serverCpuMicros({ observer }: BenchRedis): Promise<number> {
  const info = await observer.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6;
}
