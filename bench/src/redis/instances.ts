/** Several engines on one Redis, each with its own view of the fleet, which know of one another only by hints. */
import { createHintBus } from '../../../packages/scheduler/dist/adapters/redis/hint-bus.js';
import { systemClock as clock } from '../../../packages/scheduler/dist/adapters/system/clock.js';
import { guardLedger } from '../../../packages/scheduler/dist/cluster/guards/ledger.js';
import { createHints } from '../../../packages/scheduler/dist/cluster/messaging/hints.js';
import type { Load } from '../../../packages/scheduler/dist/domain/lease.js';
import type { CapacityLedger } from '../../../packages/scheduler/dist/ports/capacity-ledger.js';
import type { Assignment } from '../../../packages/scheduler/dist/ports/node-link.js';
import { registration } from '../embedded-engine.ts';
import { QUIET } from '../engine.ts';
import { createRedisEngine } from './redis-engine.ts';
import { connectTo } from './redis-server.ts';

export interface InstanceOptions {
  readonly port: number;
  readonly prefix: string;
  readonly count: number;
  readonly nodes: number;
  readonly slots: number;
  /** Whether they send one another hints of how full nodes are. */
  readonly hasHints: boolean;
  readonly onDelivery: (instance: Instance, assignment: Assignment) => void;
  /** The answer to the first reserve of a lease. */
  readonly onFirstTry: (isTaken: boolean) => void;
}

type RedisEngine = Awaited<ReturnType<typeof createRedisEngine>>;

export interface Instance {
  readonly engine: RedisEngine;
  stop(): Promise<void>;
}

export async function createInstances(options: InstanceOptions): Promise<readonly Instance[]> {
  const { count, nodes, slots } = options;
  const instances = await Promise.all(
    Array.from({ length: count }, (_, index) => createInstance(options, index)),
  );
  for (let i = 0; i < nodes; i++) {
    const holder = instances[i % count] as Instance;
    const nodeId = `node-${i}`;
    await holder.engine.register(registration(nodeId, slots));
    const view = holder.engine.fleet.view(nodeId);
    if (view === undefined) throw new Error(`${nodeId} is not in the view of its holder`);
    for (const { engine } of instances) {
      if (engine !== holder.engine) engine.fleet.upsert(view);
    }
  }
  return instances;
}

async function createInstance(options: InstanceOptions, index: number): Promise<Instance> {
  const { port, prefix } = options;
  const instanceId = `instance-${index}`;
  const subscriber = await connectTo(port, `${instanceId}-hints`, true);
  const engine = await createRedisEngine({
    port,
    prefix,
    instanceId,
    onDelivery: (assignment) => options.onDelivery(instance, assignment),
    throughLedger: (ledger) => withHints(ledger, options, (nodeId, load) => hints.load(nodeId, load)),
  });
  const hints = createHints({
    hintBus: createHintBus({ connection: engine.connection, subscriber, keys: engine.keys }),
    clock,
    log: QUIET,
    instanceId,
    isFenced: () => false,
    loadOf: (nodeId) => engine.fleet.load(nodeId),
    events: {
      loaded: (nodeId, load) => engine.fleet.setLoad(nodeId, load),
      attemptOutcome() {},
      missing() {},
      partial() {},
      followed() {},
      room() {},
      figures() {},
      pace() {},
    },
  });
  const instance: Instance = {
    engine,
    async stop() {
      await hints.stop();
      await engine.stop();
      subscriber.disconnect();
    },
  };
  await hints.start();
  return instance;
}

/** Answers of the ledger are sent to the others as hints, as the scheduler does, if hints are on. */
function withHints(
  ledger: CapacityLedger,
  { hasHints, onFirstTry }: InstanceOptions,
  noteLoad: (nodeId: string, load: Load) => void,
): CapacityLedger {
  const tried = new Set<string>();
  const seen: CapacityLedger = {
    ...ledger,
    async reserve(nodeId, lease, ttlMs) {
      const answer = await ledger.reserve(nodeId, lease, ttlMs);
      if (!tried.has(lease)) onFirstTry(answer.kind === 'reserved');
      tried.add(lease);
      return answer;
    },
    release(nodeId, lease) {
      tried.delete(lease);
      return ledger.release(nodeId, lease);
    },
  };
  const settled = () => undefined;
  return hasHints
    ? guardLedger({
        ledger: seen,
        settled,
        noteLoad,
        clock,
        reserveMs: undefined,
      })
    : seen;
}
