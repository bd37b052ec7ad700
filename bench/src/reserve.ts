/** How often the first node tried has a slot, with several instances that choose at the same time from their own views. */
import type { Assignment } from '../../packages/scheduler/dist/ports/node-link.js';
import { RESULT, request } from './embedded-engine.ts';
import type { Figure } from './measure.ts';
import { createInstances, type Instance } from './redis/instances.ts';
import { startRedisServer } from './redis/redis-server.ts';
import { logLine } from './show.ts';

const INSTANCES = 3;
const NODES = 100;
const SLOTS = 4;
const BUSY = 0.7;
const BEAT_MS = 5_000;

export interface ReserveOptions {
  /** Mean time a node works on a job; times are exponential. */
  readonly serviceMs: number;
  readonly forMs: number;
}

interface Seen {
  readonly firstTryShare: number;
  readonly busyShare: number;
  readonly refused: number;
}

export async function reserve(options: ReserveOptions): Promise<Figure[]> {
  const server = await startRedisServer();
  try {
    logLine('reserve: instances with hints about the load of nodes');
    const withHints = await play(server.port, true, options);
    logLine('reserve: instances without hints');
    const silent = await play(server.port, false, options);
    const row = (name: string, value: number, unit = '%'): Figure => ({
      scenario: 'reserve',
      name,
      value,
      unit,
    });
    return [
      {
        ...row(
          `first try has a slot, ${INSTANCES} instances, ${NODES} nodes × ${SLOTS}`,
          withHints.firstTryShare * 100,
        ),
        target: { atLeast: 97 },
      },
      row('slots in use meanwhile', withHints.busyShare * 100),
      row('refused', withHints.refused, 'jobs'),
      row('first try has a slot, if instances tell each other nothing', silent.firstTryShare * 100),
      row('slots in use meanwhile', silent.busyShare * 100),
    ];
  } finally {
    await server.stop();
  }
}

async function play(port: number, hasHints: boolean, { serviceMs, forMs }: ReserveOptions): Promise<Seen> {
  const running = new Map<string, Set<string>>();
  const ends = new Set<Promise<void>>();
  let isCounting = false;
  let [taken, tried, refused, busySum, busyLooks] = [0, 0, 0, 0, 0];

  async function work({ engine }: Instance, { job: { jobId }, nodeId, attempt }: Assignment): Promise<void> {
    const jobs = running.get(nodeId) ?? new Set<string>();
    running.set(nodeId, jobs.add(jobId));
    await engine.jobs.acknowledge({ jobId, nodeId, attempt });
    await later(exponential(serviceMs));
    jobs.delete(jobId);
    await engine.jobs.finish({ jobId, nodeId, attempt }, RESULT);
  }

  const instances = await createInstances({
    port,
    prefix: hasHints ? 'hints' : 'no-hints',
    count: INSTANCES,
    nodes: NODES,
    slots: SLOTS,
    hasHints,
    onDelivery: (instance, assignment) =>
      setImmediate(() => {
        const end = work(instance, assignment).finally(() => ends.delete(end));
        ends.add(end);
      }),
    onFirstTry(isTaken) {
      if (!isCounting) return;
      tried += 1;
      if (isTaken) taken += 1;
    },
  });
  const beating = setInterval(() => void beat(instances, running), BEAT_MS);
  const looking = setInterval(() => {
    if (!isCounting) return;
    busyLooks += 1;
    for (const jobs of running.values()) busySum += jobs.size;
  }, 20);

  async function come(): Promise<void> {
    const chosen = instances[Math.floor(Math.random() * instances.length)] as Instance;
    const outcome = await chosen.engine.jobs.dispatch(request());
    if (outcome.kind === 'refused' && isCounting) refused += 1;
  }

  const perMs = (BUSY * NODES * SLOTS) / serviceMs;
  // As long as it takes to fill up, and then the requested time.
  await arrivals(perMs, 3 * serviceMs, come);
  isCounting = true;
  await arrivals(perMs, forMs, come);
  isCounting = false;
  clearInterval(beating);
  clearInterval(looking);
  while (ends.size > 0) await Promise.all(ends);
  for (const instance of instances) await instance.stop();
  return { firstTryShare: taken / tried, busyShare: busySum / busyLooks / (NODES * SLOTS), refused };
}

/** Poisson, at intended times: a late turn is made up for. */
async function arrivals(perMs: number, forMs: number, come: () => Promise<void>): Promise<void> {
  const start = performance.now();
  const coming: Promise<void>[] = [];
  for (let dueAt = start; dueAt < start + forMs; dueAt += exponential(1 / perMs)) {
    const aheadMs = dueAt - performance.now();
    if (aheadMs > 1) await later(aheadMs);
    coming.push(come());
  }
  await Promise.all(coming);
}

async function beat(
  instances: readonly Instance[],
  running: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  for (const { engine } of instances) {
    for (const [nodeId, generation] of engine.generations) {
      const runningJobIds = [...(running.get(nodeId) ?? [])];
      const resources = { runningJobs: runningJobIds.length };
      await engine.registry.heartbeat({ nodeId, generation, resources, runningJobIds });
    }
  }
}

const exponential = (mean: number): number => -Math.log(1 - Math.random()) * mean;
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
