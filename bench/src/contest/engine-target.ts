/** The real engine in this process, on memory or on Redis, with nodes that are timers. */
import type { Assignment } from '../../../packages/scheduler/dist/ports/node-link.js';
import { RESULT } from '../embedded-engine.ts';
import type { createEngine } from '../engine.ts';
import type { Job } from '../open-loop/job-mix.ts';
import { createRedisEngine } from '../redis/redis-engine.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { createMemoryFleet, nodeName, registrationOf, requestOf } from './fleet-of.ts';
import type { DecisionTarget, JobTarget } from './job-target.ts';

interface Flight {
  readonly job: Job;
  readonly left: () => void;
  readonly end: (fault?: unknown) => void;
}

type Engine = ReturnType<typeof createEngine>;

function createBeat(engine: Engine, running: ReadonlyMap<string, ReadonlySet<string>>) {
  return async (index: number): Promise<void> => {
    const nodeId = nodeName(index);
    const generation = engine.generations.get(nodeId) ?? 0;
    const runningJobIds = [...(running.get(nodeId) ?? [])];
    const resources = { runningJobs: runningJobIds.length, cpuPercent: 20, memoryPercent: 30 };
    const beat = await engine.registry.heartbeat({ nodeId, generation, resources, runningJobIds });
    if (beat.kind !== 'beat') throw new Error(`heartbeat of ${nodeId}: ${beat.kind}`);
  };
}

export async function createEngineTarget(scenario: Scenario, redisPort?: number): Promise<JobTarget> {
  /** By request: the job's id is not known before it is sent. */
  const flying = new Map<string, Flight>();
  const running = new Map<string, Set<string>>();

  function onDelivery({ job, nodeId, attempt }: Assignment): void {
    const flight = flying.get(job.requestId ?? '');
    if (flight === undefined) return;
    flight.left();
    const about = { jobId: job.jobId, nodeId, attempt };
    const jobs = running.get(nodeId) ?? new Set();
    running.set(nodeId, jobs.add(job.jobId));
    // As from a node: its reports arrive after the send has returned.
    setImmediate(() => void work(about, flight.job.serviceMs).then(() => flight.end(), flight.end));
  }

  async function work(about: { jobId: string; nodeId: string; attempt: number }, ms: number): Promise<void> {
    const acknowledged = await engine.jobs.acknowledge(about);
    if (acknowledged.kind !== 'accepted') throw new Error(`acknowledgement ${acknowledged.reason}`);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    running.get(about.nodeId)?.delete(about.jobId);
    const finished = await engine.jobs.finish(about, RESULT);
    if (finished.kind !== 'accepted') throw new Error(`result ${finished.reason}`);
  }

  const shared =
    redisPort === undefined
      ? undefined
      : await createRedisEngine({ port: redisPort, prefix: 'jobs', instanceId: 'bench', onDelivery });
  const engine: Engine = shared ?? (await createMemoryFleet(scenario, onDelivery));
  if (shared !== undefined)
    for (let i = 0; i < scenario.fleet.nodes; i++) await engine.register(registrationOf(scenario, i));

  return {
    async run(job, left) {
      const dispatchRequest = requestOf(job, scenario.waitMs);
      const requestId = dispatchRequest.requestId ?? '';
      const ended = new Promise<void>((resolve, reject) => {
        flying.set(requestId, {
          job,
          left,
          end: (fault) => (fault === undefined ? resolve() : reject(fault)),
        });
      });
      const outcome = await engine.jobs.dispatch(dispatchRequest);
      if (outcome.kind === 'dispatched') await ended;
      flying.delete(requestId);
      return outcome.kind === 'dispatched';
    },
    beat: createBeat(engine, running),
    tidy: async () => shared?.settle(),
  };
}

export async function createEngineDecisions(scenario: Scenario): Promise<DecisionTarget> {
  const engine = await createMemoryFleet(scenario, () => {});
  const running = new Map<string, Set<string>>();
  const decide: DecisionTarget['decide'] = async (job) => {
    const outcome = await engine.jobs.dispatch(requestOf(job, 0));
    if (outcome.kind !== 'dispatched') return undefined;
    return { jobId: outcome.job.jobId, nodeId: outcome.job.fence?.nodeId ?? '' };
  };
  const beat = createBeat(engine, running);
  return {
    decide,
    async end(about) {
      await engine.jobs.finish({ ...about, attempt: 1 }, RESULT);
    },
    beat,
    async refresh() {
      for (let index = 0; index < scenario.fleet.nodes; index++) await beat(index);
    },
    async occupy(jobs) {
      for (const job of jobs) {
        const decided = await decide(job);
        if (decided === undefined) throw new Error('the fleet is full before it is busy enough');
        const held = running.get(decided.nodeId) ?? new Set();
        running.set(decided.nodeId, held.add(decided.jobId));
        await engine.jobs.acknowledge({ ...decided, attempt: 1 });
      }
    },
  };
}
