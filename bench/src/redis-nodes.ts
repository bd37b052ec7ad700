/** Nodes in Redis, as the whole scheduler keeps them there: what an idle one weighs, what a heartbeat writes, how soon another instance selects a new one. */
import type { App } from '../../packages/scheduler/dist/app/create-app.js';
import { registration, request } from './embedded-engine.ts';
import { type Figure, percentile } from './measure.ts';
import { sharedFlags, startSharedApp } from './redis/app-contestant.ts';
import { bytesOfKeys } from './redis/key-bytes.ts';
import type { BenchRedis } from './redis/redis-server.ts';
import { spreadOf } from './redis/slots.ts';
import { watchWire } from './redis/wire.ts';
import { logLine } from './show.ts';

const PREFIX = 'nodes';
const SLOTS = 4;
/** Longer than changes of nodes are gathered before they are written or published. */
const QUIET_MS = 500;
const MOST_UNTIL_SELECTED_MS = 250;

type Row = Omit<Figure, 'scenario'>;

export async function nodesInRedis(server: BenchRedis, { nodes }: { nodes: number }): Promise<Row[]> {
  logLine(`redis-cost: ${nodes} idle nodes`);
  const { app } = await startSharedApp(sharedFlags(server.port, PREFIX));
  // The first of each kind of entry is not counted: scripts, indexes, buffers of connections.
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
  // Passes over all nodes go on meanwhile, and cost the same without heartbeats.
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
    // By chance two or three of a thousand names fall into one of the 16,384 hash slots.
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

/** How long after its registration on one instance a node gets a job from another. */
export async function selectableElsewhere(
  server: BenchRedis,
  { registrations }: { registrations: number },
): Promise<Row[]> {
  logLine(`redis-cost: ${registrations} nodes registered on one instance, selected by another`);
  const flags = sharedFlags(server.port, 'selectable');
  const [{ app: holder }, { app: driver }] = [await startSharedApp(flags), await startSharedApp(flags)];
  const waits: number[] = [];
  for (let count = 0; count < registrations; count++) {
    const only = { languages: { pairs: [{ source: `q${count}`, target: 'zh' }] } };
    const { report, ...node } = registration(`node-selectable-${count}`, 1);
    const outcome = await holder.registry.register({
      ...node,
      channel: 'mailbox',
      report: { ...report, ...only },
    });
    if (outcome.kind !== 'registered') throw new Error(outcome.message);
    const registeredAt = performance.now();
    while (!(await isSelected(driver, `q${count}`))) await new Promise((resolve) => setTimeout(resolve, 1));
    waits.push(performance.now() - registeredAt);
  }
  await driver.stop();
  await holder.stop();
  waits.sort((one, other) => one - other);
  const name = 'node registers → another instance selects it';
  return [
    { name: `${name}, p50`, value: percentile(waits, 0.5), unit: 'ms' },
    {
      name: `${name}, p99`,
      value: percentile(waits, 0.99),
      unit: 'ms',
      target: { atMost: MOST_UNTIL_SELECTED_MS },
    },
  ];
}

/** Only one node has this source language. */
async function isSelected({ jobs }: App, source: string): Promise<boolean> {
  const dispatchRequest = request();
  const outcome = await jobs.dispatch({
    ...dispatchRequest,
    need: { ...dispatchRequest.need, directions: [{ source, target: 'zh' }] },
  });
  return outcome.kind === 'dispatched';
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

/** And until its notices have been published. */
async function beatAll({ registry }: App, nodes: readonly Registered[]): Promise<void> {
  for (const { nodeId, generation } of nodes) {
    const resources = { runningJobs: 0, cpuPercent: 20, memoryPercent: 30 };
    const beat = await registry.heartbeat({ nodeId, generation, resources, runningJobIds: [] });
    if (beat.kind !== 'beat') throw new Error(`heartbeat of ${nodeId}: ${beat.kind}`);
  }
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}
