/** What the scheduler sends to Redis: commands and round trips per job, on which keys, and what stays there. */
import { type Figure, median, percentile } from './measure.ts';
import { arrivalTimes } from './open-loop/arrivals.ts';
import { createChance } from './open-loop/chance.ts';
import { openLoop } from './open-loop/open-loop.ts';
import { createAppContestant } from './redis/app-contestant.ts';
import { type Contestant, closedLoop } from './redis/contestant.ts';
import { createEngineContestant } from './redis/engine-contestant.ts';
import { bytesOfKeys, keysOf } from './redis/key-bytes.ts';
import { type BenchRedis, startRedisServer } from './redis/redis-server.ts';
import { watchRoundTrips } from './redis/round-trips.ts';
import { spreadOf } from './redis/slots.ts';
import { watchWire } from './redis/wire.ts';
import { nodesInRedis, selectableElsewhere } from './redis-nodes.ts';
import { logLine } from './show.ts';

const IN_FLIGHT = 64;
const MARGIN_MS = 500;
const MOST_WAIT_MS = 15_000;

export interface RedisCostOptions {
  readonly alone: number;
  readonly together: number;
  /** How long finished jobs are kept here: long enough to count all of them, and short enough to wait for their end. */
  readonly retentionMs: number;
  readonly nodes: number;
  /** Nodes that register on one instance and are selected by another. */
  readonly registrations: number;
  /** Jobs that stay at their node for a while. */
  readonly usual: number;
  /** How long the instances are watched while they are idle. */
  readonly idleMs: number;
  /** How long a batch may wait for more entries. */
  readonly settleMs: number;
}

type Row = Omit<Figure, 'scenario'>;

export async function redisCost(options: RedisCostOptions): Promise<Figure[]> {
  const server = await startRedisServer();
  try {
    const rows = [
      ...(await commandsOfJobs(server, options)),
      ...(await commandsOfAll(server, options)),
      ...(await commandsElsewhere(server, options)),
      ...(await addedElsewhere(server, options)),
      ...(await left(server, options)),
      ...(await nodesInRedis(server, options)),
      ...(await selectableElsewhere(server, options)),
    ];
    return rows.map((row) => ({ scenario: 'redis-cost', ...row }));
  } finally {
    await server.stop();
  }
}

const MOST_COMMANDS = { target: { atMost: 10 } };

async function commandsOfJobs(server: BenchRedis, { alone, together }: RedisCostOptions): Promise<Row[]> {
  logLine(`redis-cost: ${alone} jobs one by one, ${together} with ${IN_FLIGHT} in flight`);
  const engine = await createEngineContestant({ port: server.port, prefix: 'asked', instanceId: 'bench' });
  const wire = await watchWire(server);
  const trips = watchRoundTrips(engine.engine.connection);
  const before: number[] = [];
  const whole: number[] = [];
  // Once, so that the server knows the scripts.
  await engine.run();
  await engine.tidy();
  const byOne = await wire.during(async () => {
    for (let i = 0; i < alone; i++) {
      trips.begin();
      await engine.run(() => before.push(trips.sofar()));
      whole.push(trips.sofar());
    }
    await engine.tidy();
  });
  const byMany = await wire.during(async () => {
    await closedLoop(engine, { jobs: together, inFlight: IN_FLIGHT });
    await engine.tidy();
  });
  wire.stop();
  await engine.stop();
  const spread = spreadOf(byMany.commands);
  return [
    {
      name: 'commands per job, one at a time',
      value: byOne.commands.length / alone,
      unit: '',
    },
    {
      name: `commands per job, ${IN_FLIGHT} in flight`,
      value: byMany.commands.length / together,
      unit: '',
      ...MOST_COMMANDS,
    },
    {
      name: 'calls inside their scripts per job',
      value: byMany.scriptCalls / together,
      unit: '',
    },
    {
      // Background writes look like a longer chain: the usual job has none of them.
      name: 'round trips before a job leaves',
      value: median(before),
      unit: '',
      target: { atMost: 2 },
    },
    { name: 'round trips until it is released', value: median(whole), unit: '' },
    ...['node', 'job'].map(
      (kind): Row => ({
        name: `commands to the busiest ${kind} ÷ to the mean one`,
        value: spread.busiestByKind.get(kind) ?? Number.NaN,
        unit: '×',
        target: { atMost: 2 },
      }),
    ),
    {
      name: 'commands to the busiest of three masters ÷ the mean',
      value: spread.busiestMaster,
      unit: '×',
      target: { atMost: 2 },
    },
    { name: 'commands to the busiest slot', value: spread.busiestSlotShare * 100, unit: '% of all' },
    { name: 'commands to the busiest slot ÷ to the mean one in use', value: spread.busiestSlot, unit: '×' },
  ];
}

/** The whole scheduler: with heartbeats, presence and all its background work. */
async function commandsOfAll(server: BenchRedis, { together }: RedisCostOptions): Promise<Row[]> {
  logLine(`redis-cost: ${together} jobs of the whole scheduler`);
  const app = await createAppContestant({ port: server.port, prefix: 'all' });
  await closedLoop(app, { jobs: IN_FLIGHT, inFlight: IN_FLIGHT });
  const wire = await watchWire(server);
  const { commands } = await wire.during(async () => {
    await closedLoop(app, { jobs: together, inFlight: IN_FLIGHT });
  });
  wire.stop();
  await app.stop();
  const value = commands.length / together;
  return [
    { name: 'commands per job with WebSocket legs, everything included', value, unit: '', ...MOST_COMMANDS },
  ];
}

/** Arrivals at random, about half as many in flight as in the closed loop. */
const POISSON_PER_SECOND = 100;
/** How long a job usually stays at its node. */
const USUAL_MS = 300;

/** With nodes that another instance holds, minus what the two send when idle. */
async function commandsElsewhere(server: BenchRedis, options: RedisCostOptions): Promise<Row[]> {
  const { alone, together, usual: usually } = options;
  logLine(`redis-cost: ${alone} jobs one by one and ${together} at once, on nodes of another instance`);
  const name = 'commands per job, node on another instance';
  const quick = await costElsewhere(server, 0, options, [
    { jobs: alone, inFlight: 1 },
    { jobs: together, inFlight: IN_FLIGHT },
  ]);
  logLine(`redis-cost: ${2 * usually} jobs of ${USUAL_MS} ms there one by one, and many at once`);
  const usual = await costElsewhere(server, USUAL_MS, options, [
    { jobs: usually, inFlight: 1 },
    { jobs: (usually / 2) * IN_FLIGHT, inFlight: IN_FLIGHT, perSecond: POISSON_PER_SECOND },
    { jobs: (usually / 2) * IN_FLIGHT, inFlight: IN_FLIGHT },
  ]);
  const rows: [string, number | undefined, typeof MOST_COMMANDS?][] = [
    ['one at a time', quick[0]],
    [`${IN_FLIGHT} in flight`, quick[1]],
    [`jobs of ${USUAL_MS} ms, one at a time`, usual[0]],
    [`jobs of ${USUAL_MS} ms, Poisson arrivals, ${POISSON_PER_SECOND}/s`, usual[1]],
    [`jobs of ${USUAL_MS} ms, ${IN_FLIGHT} in flight`, usual[2], MOST_COMMANDS],
  ];
  return rows.map(([how, value = Number.NaN, target = {}]) => ({
    name: `${name}, ${how}`,
    value,
    unit: '',
    ...target,
  }));
}

/** From a job's arrival to its result, on a node of another instance and on one of its own, by turns. */
async function addedElsewhere(server: BenchRedis, { usual }: RedisCostOptions): Promise<Row[]> {
  const jobs = 10 * usual;
  logLine(
    `redis-cost: ${jobs} jobs on a node of another instance and ${jobs} on a node of their own, by turns`,
  );
  const [here, there] = [
    await createAppContestant({ port: server.port, prefix: 'added-here', nodes: 1 }),
    await createAppContestant({ port: server.port, prefix: 'added-there', nodes: 1, isNodeElsewhere: true }),
  ];
  const msOf = async (app: Contestant): Promise<number> => {
    const begunAt = performance.now();
    await app.run();
    return performance.now() - begunAt;
  };
  const added: number[] = [];
  for (let job = 0; job < jobs; job++) {
    const ownMs = await msOf(here);
    added.push((await msOf(there)) - ownMs);
  }
  await here.stop();
  await there.stop();
  const sorted = added.sort((a, b) => a - b);
  const name = 'latency added by another instance';
  return [
    { name: `${name}, p50`, value: percentile(sorted, 0.5), unit: 'ms' },
    { name: `${name}, p99`, value: percentile(sorted, 0.99), unit: 'ms', target: { atMost: 5 } },
  ];
}

/** Commands per job, of all kinds. */
async function costElsewhere(
  server: BenchRedis,
  workMs: number,
  { idleMs, settleMs }: Pick<RedisCostOptions, 'idleMs' | 'settleMs'>,
  loads: readonly Load[],
): Promise<number[]> {
  const app = await createAppContestant({
    port: server.port,
    prefix: `elsewhere-${workMs}`,
    isNodeElsewhere: true,
    workMs,
    nodes: 1,
  });
  await closedLoop(app, { jobs: IN_FLIGHT, inFlight: IN_FLIGHT });
  // Batches have been written by then.
  await pause(settleMs);
  const wire = await watchWire(server);
  const commandsOfJobs = async (act: () => Promise<unknown>): Promise<{ count: number; ms: number }> => {
    const begunAt = performance.now();
    const { commands } = await wire.during(async () => void (await act()));
    return { count: commands.length, ms: performance.now() - begunAt };
  };
  const idle = await commandsOfJobs(() => pause(idleMs));
  const costs: number[] = [];
  for (const load of loads) {
    const { count, ms } = await commandsOfJobs(() => run(app, load));
    costs.push((count - (idle.count * ms) / idle.ms) / load.jobs);
  }
  wire.stop();
  await app.stop();
  return costs;
}

/** `perSecond`: jobs arrive at random at this rate, instead of one after the other in each of the lanes. */
interface Load {
  readonly jobs: number;
  readonly inFlight: number;
  readonly perSecond?: number;
}

async function run(app: Contestant, { jobs, inFlight, perSecond }: Load): Promise<void> {
  if (perSecond === undefined) return void (await closedLoop(app, { jobs, inFlight }));
  const arrivals = arrivalTimes(
    { process: 'poisson', rate: perSecond, burstSize: 1 },
    (jobs / perSecond) * 1_000,
    createChance(jobs),
  );
  await openLoop(arrivals, () => app.run());
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What is left of jobs after their retention. */
async function left(server: BenchRedis, { together, retentionMs }: RedisCostOptions): Promise<Row[]> {
  logLine(`redis-cost: what ${together} finished jobs leave`);
  const limits = { retentionMs, bindingLeaseMs: retentionMs / 2, liveMarginMs: MARGIN_MS };
  const engine = await createEngineContestant({
    port: server.port,
    prefix: 'left',
    instanceId: 'bench',
    limits,
  });
  const look = async () => ({
    keys: await keysOf(server.observer, 'left:'),
    bytes: await bytesOfKeys(server.observer, 'left:'),
  });
  const baseline = await look();
  await closedLoop(engine, { jobs: together, inFlight: IN_FLIGHT });
  await engine.tidy();
  const kept = await look();
  const overAt = performance.now() + retentionMs + MOST_WAIT_MS;
  while ((await keysOf(server.observer, 'left:')) > baseline.keys && performance.now() < overAt)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const after = await look();
  await engine.stop();
  return [
    {
      name: 'bytes per finished job while it is kept',
      value: (kept.bytes - baseline.bytes) / together,
      unit: 'B',
    },
    {
      name: 'bytes per finished job after its time',
      value: (after.bytes - baseline.bytes) / together,
      unit: 'B',
      target: { atMost: 0 },
    },
    {
      name: `keys left of ${together} jobs after their time`,
      value: after.keys - baseline.keys,
      unit: '',
      target: { atMost: 0 },
    },
  ];
}
