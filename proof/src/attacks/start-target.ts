/** Fresh scheduler processes as targets: one, or two on a Redis of their own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecorder } from '../../../packages/simulation/dist/history.js';
import { type Instance, startInstance } from '../chaos/rig/instance.ts';
import { freePorts } from '../chaos/rig/schedulers.ts';
import { call } from '../chaos/wire/call.ts';
import { startRedisServer } from '../redis/redis-servers.ts';
import type { Mode, Target } from './attack.ts';
import type { Deployment } from './deployments.ts';

export interface RunningTarget extends Target {
  /** Why the target has not survived; undefined: it has. */
  damage(): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** Only a hang takes longer: the machine may be busy with something else. */
const HEALTH_MS = 30_000;
/** A port may be taken between finding it free and listening on it. */
const START_TRIES = 3;

export async function startTarget(
  mode: Mode,
  { config: configOf, nodeFlags = [], authorityFile }: Deployment,
): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-attack-'));
  const config = typeof configOf === 'string' ? configOf : await configOf(folder);
  const ca = authorityFile && readFileSync(join(folder, authorityFile), 'utf8');
  const redis = mode === 'redis' ? await startRedisServer() : undefined;
  const recorder = createRecorder();
  const instances: Instance[] = [];

  async function stop(): Promise<void> {
    await Promise.all(instances.map((instance) => instance.isRunning() && instance.kill()));
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async function start(name: string, triesLeft = START_TRIES): Promise<Instance> {
    const [port = 0] = await freePorts(1);
    const serveFlags = flagsOf(port, redis?.port, ca !== undefined);
    try {
      const about = { name, port, folder, recorder, nodeFlags, serveFlags, config, ca };
      return await startInstance({ ...about, detours: new Map(), clockAheadMs: 0 });
    } catch (fault) {
      if (triesLeft <= 1) throw fault;
      return start(name, triesLeft - 1);
    }
  }

  try {
    for (const name of mode === 'redis' ? ['a', 'b'] : ['a']) instances.push(await start(name));
  } catch (fault) {
    await stop();
    throw fault;
  }
  const ports = instances.map(({ port }) => port);
  const [port = 0, otherPort = port] = ports;

  return {
    mode,
    ports,
    port,
    otherPort,
    redisPort: redis?.port,
    folder,
    configure(text) {
      for (const { configPath } of instances) writeFileSync(configPath, text);
    },
    call: (method, path, { port: at = port, ...calling } = {}) => call(at, method, path, { ca, ...calling }),
    log: () => instances.map(({ logPath }) => readFileSync(logPath, 'utf8')).join(''),
    rss: () => instances.map(({ pid }) => rssOf(pid)),
    async damage() {
      for (const { name, port: at, isRunning, logPath } of instances) {
        if (!isRunning()) return `process ${name} ended: ${lastLine(logPath)}`;
        const health = await call(at, 'GET', '/health/live', { timeoutMs: HEALTH_MS, ca }).catch(String);
        if (typeof health === 'string' || health.status !== 200)
          return `process ${name} does not answer /health/live: ${JSON.stringify(health)}`;
      }
      return undefined;
    },
    stop,
  };
}

/** As flags, so that the text of an attack may have the same tables. */
function flagsOf(port: number, redisPort: number | undefined, hasTls: boolean): string[] {
  const settings = [`server.port=${port}`, 'server.drain_timeout_ms=0', 'scheduler.fleet_warmup_ms=0'];
  if (hasTls) settings.push(`server.advertise_url=https://127.0.0.1:${port}`);
  if (redisPort !== undefined)
    settings.push(
      'scheduler.cluster.enabled=true',
      `scheduler.cluster.redis.url=redis://127.0.0.1:${redisPort}`,
    );
  return settings.flatMap((setting) => ['--set', setting]);
}

const lastLine = (path: string): string => readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';

/** 0 on systems without /proc. */
function rssOf(pid: number): number {
  try {
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
