/** The naive scheduler as a contestant: in this process, with nodes that are timers. */
import { createChance } from '../open-loop/chance.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { registrationOf } from './fleet-of.ts';
import type { DecisionTarget, JobTarget } from './job-target.ts';
import { createNaiveScheduler } from './naive-scheduler.ts';

const SEED = 7;
/** How often a waiting job checks again whether there is room. */
const LOOK_AGAIN_MS = 5;

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function create(scenario: Scenario, clock: () => number) {
  const registrations = Array.from({ length: scenario.fleet.nodes }, (_, i) => registrationOf(scenario, i));
  return createNaiveScheduler(registrations, clock, createChance(SEED));
}

export function createNaiveTarget(scenario: Scenario): JobTarget {
  const scheduler = create(scenario, Date.now);
  let count = 0;
  return {
    async run({ source, target, serviceMs }, left) {
      const jobId = `job-${count++}`;
      const over = performance.now() + scenario.waitMs;
      while (scheduler.dispatch(jobId, source, target) === undefined) {
        if (performance.now() >= over) return false;
        await later(LOOK_AGAIN_MS);
      }
      left();
      if (serviceMs > 0) await later(serviceMs);
      else await new Promise((resolve) => setImmediate(resolve));
      scheduler.finish(jobId);
      return true;
    },
    beat: async (index) => scheduler.heartbeat(index),
    tidy: async () => {},
  };
}

export function createNaiveDecisions(scenario: Scenario): DecisionTarget {
  // Its clock does not advance: heartbeats of all nodes would take minutes.
  const scheduler = create(scenario, () => 0);
  let count = 0;
  return {
    async decide({ source, target }) {
      const jobId = `job-${count++}`;
      const nodeId = scheduler.dispatch(jobId, source, target);
      return nodeId === undefined ? undefined : { jobId, nodeId };
    },
    end: async ({ jobId }) => scheduler.finish(jobId),
    beat: async (index) => scheduler.heartbeat(index),
    refresh: async () => {},
    occupy: async (jobs) => scheduler.occupy(jobs.length),
  };
}
