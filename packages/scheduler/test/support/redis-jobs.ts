/** Job stores and job events of several instances on one Redis, for tests. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJobEvents as createLocalEvents } from '../../src/adapters/memory/job-events.ts';
import {
  connectRedis,
  type RedisConnection,
  type RedisSettings,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createJobEvents } from '../../src/adapters/redis/job-events.ts';
import { createJobStore, type JobStoreLimits } from '../../src/adapters/redis/job-store.ts';
import { createKeys, type Keys } from '../../src/adapters/redis/keys.ts';
import type { SealedPayload } from '../../src/adapters/redis/sealed-payload.ts';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { createIdSource } from '../../src/adapters/system/id-source.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { RedisUnderTest } from './redis-servers.ts';

const START_MS = 60_000;

export const realTime = {
  // Timers may fire up to a millisecond early by the server's clock.
  advance: async (ms: number) => void (await sleep(ms + 2)),
  now: clock.now,
};

/** An own prefix: tests must not disturb one another. */
export const freshKeys = (): Keys => createKeys(`test-${randomUUID()}`);

export interface Connections {
  readonly connection: RedisConnection;
  readonly subscriber: RedisConnection;
}

export interface Connected extends Connections {
  readonly servers: RedisUnderTest;
  /** For another instance: commands of one connection would be in order anyway. */
  readonly other: Connections;
  close(): Promise<void>;
}

async function connect(settings: RedisSettings, name: string): Promise<Connections> {
  const connection = connectRedis(settings, { name });
  const subscriber = connectRedis(settings, { name: `${name}-subscriber`, isListening: true });
  await Promise.all([whenReady(connection, START_MS), whenReady(subscriber, START_MS)]);
  return { connection, subscriber };
}

export async function connectTo(
  starting: Promise<RedisUnderTest>,
  timeouts: Partial<RedisSettings> = {},
): Promise<Connected> {
  const servers = await starting;
  const settings = { ...servers.settings, ...timeouts };
  const [own, other] = await Promise.all([connect(settings, 'jobs'), connect(settings, 'other-jobs')]);
  return {
    ...own,
    servers,
    other,
    async close() {
      for (const { connection, subscriber } of [own, other]) {
        connection.disconnect();
        subscriber.disconnect();
      }
      await servers.stop();
    },
  };
}

export const ROOMY: JobStoreLimits = {
  bindingLeaseMs: 60_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 64_000_000,
  maxInflight: 10_000,
  maxBindings: 10_000,
  resultInlineMaxBytes: 512 * 1024,
  liveMarginMs: 60_000,
};

const { digest } = createIdSource({ clock, digestsRequests: true });

interface InstanceOptions extends Partial<JobStoreLimits> {
  readonly driver?: () => string;
  readonly clock?: Clock;
  readonly payload?: SealedPayload;
  /** A stepped clock here means that waiters depend on notices: they do not read the record again later. */
  readonly eventsClock?: Clock;
}

/** One instance's view of the jobs under `keys`, in its first incarnation unless `driver` is given. */
export function openInstance(
  { connection, subscriber }: Connections,
  keys: Keys,
  instanceId: string,
  { eventsClock = clock, ...limits }: InstanceOptions = {},
  maxListeners = 100,
) {
  const store = createJobStore({
    connection,
    keys,
    clock,
    digest,
    instanceId,
    driver: () => `${instanceId}/1`,
    ...ROOMY,
    ...limits,
  });
  const local = createLocalEvents({ maxListeners });
  const events = createJobEvents({
    connection,
    subscriber,
    keys,
    clock: eventsClock,
    instanceId,
    local,
    store,
  });
  return {
    store,
    events,
    async close() {
      await Promise.all([store.close(), events.close()]);
    },
  };
}
