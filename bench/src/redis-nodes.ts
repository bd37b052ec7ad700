/** What nodes cost in Redis, as the whole scheduler keeps them there: what an idle one weighs, and what a heartbeat writes. */
import type { App } from '../../packages/scheduler/dist/app/create-app.js';
import { registration } from './embedded-engine.ts';
import type { Figure } from './measure.ts';
import { sharedFlags, startSharedApp } from './redis/app-contestant.ts';
import { bytesOfKeys } from './redis/key-bytes.ts';
import type { BenchRedis } from './redis/redis-server.ts';
import { spreadOf } from './redis/slots.ts';
import { watchWire } from './redis/wire.ts';
import { say } from './show.ts';

const PREFIX = 'nodes';
const SLOTS = 4;
/** Longer than news of nodes are gathered for before they are written or told. */
const QUIET_MS = 500;

type Row = Omit<Figure, 'scenario'>;

export async function nodesInRedis(server: BenchRedis, { nodes }: { nodes: number }): Promise<Row[]> {
  say(`redis-cost: ${nodes} idle nodes`);
  const { app } = await startSharedApp(sharedFlags(server.port, PREFIX));
  // The first of all kinds of things are not theirs: scripts, indexes, buffers of connections.
  const first = await register(app, 0, 10);
  await beatAll(app, first);
  const before = await weigh(server);
  const fleet = await register(app, 10, nodes);
  await beatAll(app, fleet);
  const after = await weigh(server);
  const wire = await watchWire(server);
  const { commands } = await wire.during(() => beatAll(app, fleet));
  wire.stop();
  await app.stop();
  // Rounds over all nodes go on meanwhile, and cost the same without heartbeats.
  const writes = commands.filter((command) => command.some((part) => part.includes('{node:')));
  const spread = spreadOf(writes);
  return [
    {
      name: 'memory of Redis per idle node',
      value: (after.used - before.used) / nodes,
      unit: 'B',
      target: { atMost: 2_048 },
    },
    { name: 'its keys', value: (after.keys - before.keys) / nodes, unit: 'B' },
    {
      name: 'writes per heartbeat',
      value: writes.length / nodes,
      unit: '',
      target: { atMost: 2 },
    },
    {
      name: 'writes of heartbeats to the busiest node ÷ to the mean one',
      value: spread.busiestByKind.get('node') ?? Number.NaN,
      unit: '×',
      target: { atMost: 2 },
    },
    // By chance: of a thousand names two or three fall into one of the 16,384 slots.
    {
      name: 'writes of heartbeats to the busiest slot ÷ to the mean one in use',
      value: spread.busiestSlot,
      unit: '×',
    },
    {
      name: 'writes of heartbeats to the busiest of three masters ÷ the mean',
      value: spread.busiestMaster,
      unit: '×',
      target: { atMost: 2 },
    },
  ];
}

async function weigh({ observer }: BenchRedis): Promise<{ used: number; keys: number }> {
  const used = Number(/^used_memory:(\d+)/m.exec(await observer.info('memory'))?.[1]);
  return { used, keys: await bytesOfKeys(observer, `${PREFIX}:`) };
}

interface Registered {
  readonly nodeId: string;
  readonly generation: number;
}

async function register({ registry }: App, from: number, count: number): Promise<readonly Registered[]> {
  const registered: Registered[] = [];
  for (let i = from; i < from + count; i++) {
    const outcome = await registry.register(registration(`node-bench-${i}`, SLOTS));
    if (outcome.kind !== 'registered') throw new Error(outcome.message);
    registered.push(outcome);
  }
  return registered;
}

/** And until what is told of it has been told. */
async function beatAll({ registry }: App, nodes: readonly Registered[]): Promise<void> {
  for (const { nodeId, generation } of nodes) {
    const resources = { runningJobs: 0, cpuPercent: 20, memoryPercent: 30 };
    const beat = await registry.heartbeat({ nodeId, generation, resources, runningJobIds: [] });
    if (beat.kind !== 'beat') throw new Error(`heartbeat of ${nodeId}: ${beat.kind}`);
  }
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}
