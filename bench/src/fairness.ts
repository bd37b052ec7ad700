/** Two tenants on one fleet: how long B waits for a slot while A uses its share, and while A offers ten times as much. */
import { createCapacityLedger } from '../../packages/scheduler/dist/adapters/memory/capacity-ledger.js';
import { createJobEvents } from '../../packages/scheduler/dist/adapters/memory/job-events.js';
import { createJobStore } from '../../packages/scheduler/dist/adapters/memory/job-store.js';
import { createNodeIdClaims } from '../../packages/scheduler/dist/adapters/memory/node-id-claims.js';
import { systemClock as clock } from '../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../packages/scheduler/dist/adapters/system/id-source.js';
import { jobStoreLimits } from '../../packages/scheduler/dist/app/settings/settings-from-config.js';
import type { Assignment } from '../../packages/scheduler/dist/ports/node-link.js';
import { createTenantQueue } from '../../packages/scheduler/dist/runtime/queue/tenant-queue.js';
import type { Waiter } from '../../packages/scheduler/dist/runtime/queue/waiting-queue.js';
import { benchConfig, RESULT, registration, request, WRITTEN } from './embedded-engine.ts';
import { createEngine } from './engine.ts';
import { cpuMicros, type Figure, median, percentile } from './measure.ts';
import { logLine } from './show.ts';

const NODES = 4;
const SLOTS = 4;
/** Of one job, on average; half to one and a half of it. */
const SERVICE_MS = 40;
const CAPACITY_PER_MS = (NODES * SLOTS) / SERVICE_MS;
/** How much of its share B requests: always, whatever A does. */
const B_OF_ITS_SHARE = 0.8;
const FLOOD = 10;
const WAIT_MS = 10_000;
/** A may fill its part of the queue before anything counts. */
const WARM_SHARE = 0.25;

interface Weights {
  readonly a: number;
  readonly b: number;
}

interface Run {
  readonly weights: Weights;
  /** What A offers, as a multiple of its share. */
  readonly load: number;
  /** Both wait in one queue, in the order of arrival: the result without fair turns. */
  readonly isOneLine: boolean;
  readonly forMs: number;
}

/** A fleet whose nodes take their time, and report when a job was sent to one. */
async function createFleet({ weights }: Run, sent: (sessionId: string) => void) {
  const rows = [
    { tenant_id: 'a', weight: weights.a },
    { tenant_id: 'b', weight: weights.b },
  ];
  const config = benchConfig([`scheduler.tenants=${JSON.stringify(rows)}`]);
  // What is left of a run must not continue beside the next.
  let isOver = false;
  const engine = createEngine({
    config,
    ids: createIdSource({ clock, digestsRequests: false }),
    ledger: (numbers) => createCapacityLedger({ clock, numbers }),
    store: createJobStore({ clock, ...jobStoreLimits(config), maxRetained: 2_000 }),
    nodeIdClaims: createNodeIdClaims({ maxNodes: NODES }),
    events: createJobEvents({ maxListeners: 10_000 }),
    link: {
      deliver({ nodeId, job, attempt }: Assignment) {
        sent(job.sessionId);
        const takesMs = SERVICE_MS * (0.5 + Math.random());
        const ended = { nodeId, jobId: job.jobId, attempt };
        setTimeout(() => isOver || engine.jobs.finish(ended, RESULT), takesMs);
        return WRITTEN;
      },
      cancel() {},
    },
  });
  for (let i = 0; i < NODES; i++) await engine.register(registration(`node-${i}`, SLOTS));
  return {
    jobs: engine.jobs,
    stop() {
      isOver = true;
      engine.stop();
    },
  };
}

/** At random, at a steady rate: arrivals do not depend on earlier jobs. */
function* arrivals(perMs: number): Generator<number> {
  for (let at = 0; ; ) {
    at -= Math.log(1 - Math.random()) / perMs;
    yield at;
  }
}

/** How long each job of B waited for a node, in order of length. Those that still wait have waited until now. */
async function waitsOfB(run: Run): Promise<number[]> {
  const shareOfA = run.weights.a / (run.weights.a + run.weights.b);
  const waiting = new Map<string, number>();
  const waits: number[] = [];
  let start = performance.now();
  const warmUntil = run.forMs * WARM_SHARE;
  const now = (): number => performance.now() - start;
  const note = (dueAt: number): void => {
    if (dueAt >= warmUntil) waits.push(now() - dueAt);
  };
  const fleet = await createFleet(run, (sessionId) => {
    const dueAt = waiting.get(sessionId);
    if (dueAt === undefined) return;
    waiting.delete(sessionId);
    note(dueAt);
  });

  start = performance.now();
  let count = 0;
  function submit(tenant: 'a' | 'b', dueAt: number): void {
    const sessionId = `${tenant}-${count++}`;
    const tenantId = run.isOneLine ? 'both' : tenant;
    const dispatchRequest = request();
    if (tenant === 'b') waiting.set(sessionId, dueAt);
    void fleet.jobs.dispatch({
      ...dispatchRequest,
      tenantId,
      sessionId,
      need: { ...dispatchRequest.need, tenantId, sessionId },
      waitMs: WAIT_MS,
    });
  }

  async function offer(tenant: 'a' | 'b', perMs: number): Promise<void> {
    for (const dueAt of arrivals(perMs)) {
      if (dueAt > run.forMs) return;
      while (now() < dueAt) await new Promise((resolve) => setTimeout(resolve, dueAt - now()));
      submit(tenant, dueAt);
    }
  }

  await Promise.all([
    offer('a', CAPACITY_PER_MS * shareOfA * run.load),
    offer('b', CAPACITY_PER_MS * (1 - shareOfA) * B_OF_ITS_SHARE),
  ]);
  for (const dueAt of waiting.values()) note(dueAt);
  fleet.stop();
  return waits.sort((one, other) => one - other);
}

interface Pair {
  readonly p50: number;
  readonly p99: number;
}

const medians = (rounds: readonly Pair[]): Pair => ({
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
});

async function contest(weights: Weights, options: { rounds: number; forMs: number }): Promise<Figure[]> {
  const kinds = {
    calm: { load: 1, isOneLine: false },
    flood: { load: FLOOD, isOneLine: false },
    oneLine: { load: FLOOD, isOneLine: true },
  };
  const measured = { calm: [] as Pair[], flood: [] as Pair[], oneLine: [] as Pair[] };
  const title = `weights ${weights.a}:${weights.b}`;
  for (let round = 1; round <= options.rounds; round++) {
    logLine(`fairness, ${title}: round ${round} of ${options.rounds}`);
    for (const [kind, how] of Object.entries(kinds)) {
      const waits = await waitsOfB({ weights, forMs: options.forMs, ...how });
      const pair = { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) };
      measured[kind as keyof typeof kinds].push(pair);
    }
  }
  const calm = medians(measured.calm);
  const flood = medians(measured.flood);
  const oneLine = medians(measured.oneLine);
  const figure = (name: string, value: number, unit = 'ms'): Figure => ({
    scenario: 'fairness',
    name: `${name}, ${title}`,
    value,
    unit,
  });
  return [
    figure('B waits, A at its share: p50', calm.p50),
    figure('B waits, A at its share: p99', calm.p99),
    figure(`B waits, A offers ${FLOOD}×: p50`, flood.p50),
    figure(`B waits, A offers ${FLOOD}×: p99`, flood.p99),
    { ...figure('p99 of B, flood ÷ share', flood.p99 / calm.p99, '×'), target: { atMost: 2 } },
    figure('p99 of B, flood ÷ share, one line for all', oneLine.p99 / calm.p99, '×'),
  ];
}

const LINE = 10_000;
const COME_BACK = 500;

/** A waiting job that was woken in vain comes back to its old place, and the line is not copied for it. */
function comingBack(): Figure {
  const queue = createTenantQueue({ quantumOf: () => 1, isHeld: () => false });
  const waiter = (): Waiter => ({
    tenantId: 'a',
    shape: 'any',
    class: 'normal',
    since: 0,
    directions: [{ source: 'en', target: 'zh' }],
    fits: () => true,
    hasCandidate: () => true,
    wake: () => {},
  });
  for (let i = 0; i < LINE; i++) queue.enter(waiter());
  const woken = Array.from(
    { length: COME_BACK },
    () => queue.take(256, ({ fits }) => fits('node')) as Waiter,
  );
  const begunAt = cpuMicros();
  for (const each of woken) queue.enterAgain(each);
  return {
    scenario: 'fairness',
    name: `CPU per waiting job that comes back, ${LINE.toLocaleString('en-US')} waiting`,
    value: (cpuMicros() - begunAt) / COME_BACK,
    unit: 'µs',
    target: { atMost: 400 },
  };
}

export async function fairness(options: { rounds: number; forMs: number }): Promise<Figure[]> {
  const equal = await contest({ a: 1, b: 1 }, options);
  return [comingBack(), ...equal, ...(await contest({ a: 3, b: 1 }, options))];
}
