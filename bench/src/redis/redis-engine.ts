/** The real engine on Redis adapters, as one of several instances; the caller decides what its nodes do with a job. */
import { createJobEvents as createLocalEvents } from '../../../packages/scheduler/dist/adapters/memory/job-events.js';
import { createCapacityLedger } from '../../../packages/scheduler/dist/adapters/redis/capacity-ledger.js';
import type { RedisConnection } from '../../../packages/scheduler/dist/adapters/redis/connection/redis-connection.js';
import { createJobEvents } from '../../../packages/scheduler/dist/adapters/redis/job-events.js';
import {
  createJobStore,
  type JobStoreLimits,
} from '../../../packages/scheduler/dist/adapters/redis/job-store.js';
import { createKeys } from '../../../packages/scheduler/dist/adapters/redis/keys.js';
import { createNodeIdClaims } from '../../../packages/scheduler/dist/adapters/redis/node-id-claims.js';
import { systemClock as clock } from '../../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../../packages/scheduler/dist/adapters/system/id-source.js';
import { jobStoreLimits } from '../../../packages/scheduler/dist/app/settings/settings-from-config.js';
import type { CapacityLedger } from '../../../packages/scheduler/dist/ports/capacity-ledger.js';
import type { Assignment } from '../../../packages/scheduler/dist/ports/node-link.js';
import { benchConfig, WRITTEN } from '../embedded-engine.ts';
import { createEngine } from '../engine.ts';
import { connectTo } from './redis-server.ts';

export interface RedisEngineOptions {
  readonly port: number;
  readonly prefix: string;
  readonly instanceId: string;
  /** The job is under way to a node. */
  readonly onDelivery: (assignment: Assignment) => void;
  readonly limits?: Partial<JobStoreLimits>;
  /** To observe the calls to the ledger. */
  readonly throughLedger?: (ledger: CapacityLedger) => CapacityLedger;
}

/** Beyond what the embedded store needs. */
const LIMITS = { resultInlineMaxBytes: 512 * 1_024, liveMarginMs: 60_000 };

export async function createRedisEngine(options: RedisEngineOptions) {
  const { port, instanceId, onDelivery, throughLedger = (ledger) => ledger } = options;
  const [connection, subscriber] = await Promise.all([
    connectTo(port, instanceId),
    connectTo(port, `${instanceId}-subscriber`, true),
  ]);
  const keys = createKeys(options.prefix);
  const config = benchConfig();
  const ids = createIdSource({ clock, digestsRequests: true });
  const store = createJobStore({
    connection,
    keys,
    clock,
    digest: ids.digest,
    instanceId,
    driver: () => `${instanceId}/1`,
    ...jobStoreLimits(config),
    ...LIMITS,
    ...options.limits,
  });
  const local = createLocalEvents({ maxListeners: 10_000 });
  const events = createJobEvents({ connection, subscriber, keys, clock, instanceId, local, store });
  const engine = createEngine({
    config,
    ids,
    ledger: () => throughLedger(createCapacityLedger({ connection, keys })),
    store,
    nodeIdClaims: createNodeIdClaims({ connection, keys, clock, maxNodes: 100_000 }),
    events,
    link: {
      deliver(assignment) {
        onDelivery(assignment);
        return WRITTEN;
      },
      cancel() {},
    },
  });
  return {
    ...engine,
    connection,
    keys,
    /** Writes what is still pending to the indexes. */
    settle: () => store.close(),
    async stop() {
      engine.stop();
      await Promise.all([store.close(), events.close()]);
      disconnect(connection, subscriber);
    },
  };
}

function disconnect(...connections: RedisConnection[]): void {
  for (const connection of connections) connection.disconnect();
}
