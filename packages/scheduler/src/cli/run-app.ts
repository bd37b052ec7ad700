/** Runs the scheduler until it is interrupted, then drains it. */

import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { createBoundedLog } from '../adapters/system/bounded-log.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { createLog } from '../adapters/system/log.ts';
import { createSleepCountingClock } from '../adapters/system/sleep-counting-clock.ts';
import { type App, createApp } from '../app/create-app.ts';
import { openSharedStore, type SharedStore } from '../app/redis-store.ts';
import { nameInstance } from '../cluster/membership/process-name.ts';
import type { LoadResult, Origins } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import { type CommandIo, interruption } from './command-io.ts';

export interface Listening {
  readonly app: App;
  readonly address: AddressInfo;
}

export interface RunOptions {
  /** Reads the configuration again, after SIGHUP or an operator's request. */
  readonly reread: () => Promise<LoadResult>;
  /** Where each setting came from. */
  readonly origins: Origins;
  /** Runs once the server listens; its promise is awaited after the scheduler has stopped. */
  readonly meanwhile?: (listening: Listening) => Promise<() => Promise<void>>;
}

export async function runApp(
  config: Config,
  io: CommandIo,
  { reread, origins, meanwhile }: RunOptions,
): Promise<number> {
  const { instance_id: configured } = config.scheduler.cluster;
  const instanceId = nameInstance(configured, { hostname: hostname(), newName: randomUUID });
  const lines = createLog(config.log.level, { isPretty: config.log.pretty, instanceId });
  const log = createBoundedLog(lines, { clock: systemClock });
  let app: App | undefined;
  let isReloadDue = false;
  // From the start to the end: without a handler the signal would end the process with its jobs.
  const stopListening = io.onReload?.(() => {
    isReloadDue = app === undefined;
    void app?.reload();
  });
  const isShared = config.scheduler.cluster.enabled;
  // While the machine sleeps other instances take over its jobs; a single instance need not count the sleep.
  const clock = isShared ? createSleepCountingClock() : systemClock;
  let shared: SharedStore | undefined;
  try {
    if (isShared) shared = await openSharedStore({ config, clock, log });
  } catch (error) {
    io.err(`lingua: the store cannot be used: ${messageOf(error)}`);
    stopListening?.();
    return 1;
  }
  let address: AddressInfo;
  try {
    app = createApp({ config, log, clock, shared, reread, origins, instanceId });
    if (isReloadDue) void app.reload();
    address = await app.start();
  } catch (error) {
    io.err(`lingua: ${whyNotListening(error, config)}`);
    if (app === undefined) shared?.close();
    else await app.stop();
    stopListening?.();
    return 1;
  }
  const end = await meanwhile?.({ app, address });
  await interruption(io);
  await app.stop();
  await end?.();
  stopListening?.();
  return 0;
}

function whyNotListening(error: unknown, { server }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const at = `${server.host}:${server.port}`;
  if (code === 'EADDRINUSE') return `${at} is in use; stop the other program or choose another --port`;
  if (code === 'EACCES') return `${at} may not be used by this user; choose a port above 1023`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${server.host} is no address of this machine; choose another --host`;
  return code === undefined ? messageOf(error) : `cannot listen on ${at}: ${messageOf(error)}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
