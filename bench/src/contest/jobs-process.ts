/** A process with one contestant of a scenario that measures jobs: they begin and end here. */
import { cpuMicros } from '../measure.ts';
import { arrivalTimes } from '../open-loop/arrivals.ts';
import { createChance } from '../open-loop/chance.ts';
import { createHistogram } from '../open-loop/histogram.ts';
import { createJobMix } from '../open-loop/job-mix.ts';
import { openLoop } from '../open-loop/open-loop.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Who } from '../scenario/vocabulary.ts';
import { serve, startedWith } from './child.ts';
import type { Driven, RoundOrder } from './contestant.ts';
import type { JobTarget } from './job-target.ts';
import { type PauseFigures, watchPauses } from './watch-pauses.ts';

export interface JobsStart {
  readonly who: Who;
  readonly scenario: Scenario;
  readonly redisPort: number;
}

export type JobsOrder =
  | ({ readonly kind: 'open' } & RoundOrder)
  | { readonly kind: 'flood'; readonly jobs: number };

export interface Flooded {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

export type Opened = Driven & PauseFigures;

const { who, scenario, redisPort } = startedWith<JobsStart>();
const BEAT_TICK_MS = 50;

/** Loaded only where they are needed: a measured process carries nothing of the others. */
const create: Partial<Record<Who, () => Promise<JobTarget>>> = {
  scheduler: async () =>
    (await import('./engine-target.ts')).createEngineTarget(
      scenario,
      scenario.store === 'redis' ? redisPort : undefined,
    ),
  naive: async () => (await import('./naive-target.ts')).createNaiveTarget(scenario),
  bullmq: async () => (await import('./bullmq-target.ts')).createBullmqTarget(redisPort, scenario.inFlight),
  evalsha: async () => (await import('./evalsha-target.ts')).createEvalshaTarget(scenario, redisPort),
};
const target = await create[who]?.();
if (target === undefined) throw new Error(`${who} does no jobs`);
const contestant = target;

/** Every node once per interval, a few at a time, as in a fleet whose nodes were started at different times. */
function keepBeating(): void {
  const { nodes, heartbeatSeconds } = scenario.fleet;
  const start = performance.now();
  let beaten = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1_000 / heartbeatSeconds) * nodes);
    // A contestant that cannot keep up gets no more than one round of the fleet.
    for (beaten = Math.max(beaten, due - nodes); beaten < due; beaten++) void contestant.beat(beaten % nodes);
  }, BEAT_TICK_MS).unref();
}

const pausesSince = watchPauses();

async function open({ rate, seconds, seed }: RoundOrder): Promise<Opened> {
  const chance = createChance(seed);
  const nextJob = createJobMix(scenario, createChance(seed + 1));
  const dispatch = createHistogram();
  let [done, refused] = [0, 0];
  pausesSince();
  await openLoop(arrivalTimes({ ...scenario.arrivals, rate }, seconds * 1_000, chance), async (dueAt) => {
    const isDone = await contestant.run(nextJob(), () => dispatch.record(performance.now() - dueAt));
    if (isDone) done += 1;
    else refused += 1;
  });
  const pauses = pausesSince();
  await contestant.tidy();
  return { dispatch: dispatch.counts(), done, refused, ...pauses };
}

async function flood(jobs: number): Promise<Flooded> {
  const nextJob = createJobMix(scenario, createChance(jobs));
  let left = jobs;
  async function lane(): Promise<void> {
    while (left-- > 0) {
      if (!(await contestant.run(nextJob(), () => {}))) throw new Error(`${who} refused a job`);
    }
  }
  const [before, start] = [cpuMicros(), performance.now()];
  await Promise.all(Array.from({ length: scenario.inFlight }, lane));
  const [ms, micros] = [performance.now() - start, cpuMicros() - before];
  await contestant.tidy();
  return { perSecond: (jobs * 1_000) / ms, cpuMicros: micros / jobs };
}

keepBeating();
serve({}, (order: JobsOrder) => (order.kind === 'open' ? open(order) : flood(order.jobs)));
