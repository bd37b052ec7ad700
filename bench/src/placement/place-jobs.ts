/** One fleet under one load with one policy, placed by the scheduler's own engine on virtual time. */
import { createCapacityLedger } from '../../../packages/scheduler/dist/adapters/memory/capacity-ledger.js';
import type { Load } from '../../../packages/scheduler/dist/domain/lease.js';
import { NodeNumbers } from '../../../packages/scheduler/dist/domain/numbered/node-numbers.js';
import { createMachine } from '../../../packages/scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../packages/scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../../packages/scheduler/dist/plan/kernel/virtual-time.js';
import {
  createPlanEngine,
  PLAN_RESULT,
  planRequest,
} from '../../../packages/scheduler/dist/plan/plan-engine.js';
import type { CapacityLedger } from '../../../packages/scheduler/dist/ports/capacity-ledger.js';
import type { Meter } from '../../../packages/scheduler/dist/ports/meter.js';
import type { NodeLink } from '../../../packages/scheduler/dist/ports/node-link.js';
import {
  createFleetView,
  type FleetView,
} from '../../../packages/scheduler/dist/runtime/fleet/fleet-view.js';
import type { PolicyName } from '../../../packages/scheduler/dist/runtime/select/policies.js';
import type { PlacementFleet } from './read-fleet.ts';
import { BASE_MS, capacityOf, createSimulatedNodes, exponential, normal } from './simulated-nodes.ts';

export interface Placing {
  readonly fleet: PlacementFleet;
  /** `oracle`: the policy `fastest` with the true speeds. */
  readonly policy: PolicyName | 'oracle';
  /** Overdue jobs get a second attempt. */
  readonly isHedged?: boolean | undefined;
  /** Share of what the fleet serves with all slots taken. */
  readonly load: number;
  readonly instances: number;
  /** How late an instance sees the slots that others take and release. */
  readonly viewDelayMs: number;
  readonly jobs: number;
  readonly seed: string;
}

export interface Placed {
  /** From arrival to result, of all jobs after the warm-up, ascending. */
  readonly timesMs: Float64Array;
  readonly firstTryPercent: number;
  /** Second attempts, as a share of all jobs. */
  readonly hedgedPercent: number;
}

/** Of the logarithm of the length of an utterance. */
const LENGTH_SPREAD = 0.5;
const MEAN_SECONDS = 3;
const BYTES_PER_SECOND = 32_000;
const LONGEST_SECONDS = 60;
/** Of the jobs; the nodes fill up and their speeds are learnt meanwhile. */
const WARM_UP = 0.1;
const STEP_MS = 10_000;
/** How late an instance hears what the others have learnt. */
const PACES_MS = 1_000;
const DAY_MS = 86_400_000;
const CANCELLED = { code: 'JOB_CANCELLED', message: 'cancelled' };
/** As in the default settings. */
const HEDGE = {
  classes: new Set(['high'] as const),
  overdueFactor: 2,
  budgetPercent: 1,
  allowsWithoutCancel: false,
};

export async function placeJobs({
  fleet,
  policy,
  isHedged = false,
  load,
  instances,
  viewDelayMs,
  jobs,
  seed,
}: Placing): Promise<Placed> {
  const time = createVirtualTime();
  const { clock } = createMachine({ time, name: 'placement' });
  const nodes = createSimulatedNodes(fleet, time, seededChance(`${seed}/nodes`));
  const traffic = seededChance(`${seed}/traffic`);
  const silence = Buffer.alloc(LONGEST_SECONDS * BYTES_PER_SECOND);
  const numbers = new NodeNumbers();
  const views = Array.from({ length: instances }, () => createFleetView(numbers));
  const ledger = createCapacityLedger({ clock, numbers });
  const tries = { first: 0, taken: 0 };
  const arrivedAt = new Float64Array(jobs);
  const work = new Float64Array(jobs);
  const timesMs = new Float64Array(jobs);
  const running = new Map<string, () => void>();
  let arrived = 0;
  let ended = 0;
  let hedges = 0;
  let fault: unknown;
  const fail = (reason: unknown): void => {
    fault ??= reason;
  };

  const engineOf = (view: FleetView, at: number) =>
    createPlanEngine({
      clock,
      link: linkTo(() => engines[at] as Engine),
      workload: { serviceMs: BASE_MS, slots: fleet.slots, maxWaitMs: DAY_MS },
      nodes: fleet.slowness.length,
      seed: `${seed}/${at}`,
      policy: policy === 'oracle' ? 'fastest' : policy,
      speeds: policy === 'oracle' ? nodes.truth : undefined,
      shared: { fleet: view, ledger: delayed(view), hasPeers: instances > 1 },
      hedge: isHedged ? HEDGE : undefined,
      meter,
      paceLearnt: (kindOfWork, nodeId, pace) =>
        time.at(time.now() + PACES_MS, () => {
          for (const other of engines) if (other !== engines[at]) other.notePace(kindOfWork, nodeId, pace);
        }),
    });
  type Engine = Awaited<ReturnType<typeof createPlanEngine>>;

  const meter: Meter = {
    count(name, labels) {
      if (name === 'scheduler_hedges_total' && labels?.outcome === 'sent') hedges += 1;
      if (name !== 'scheduler_reserve_first_try_total') return;
      tries.first += 1;
      if (labels?.result === 'success') tries.taken += 1;
    },
    gauge() {},
    observe() {},
  };

  /** The instance itself sees its reservations and releases at once, the others later. */
  function delayed(view: FleetView): CapacityLedger {
    const others = views.filter((other) => other !== view);
    const show = <T extends { readonly kind: string }>(nodeId: string, answer: T & Partial<Load>): T => {
      const { used, max } = answer;
      if (used !== undefined && max !== undefined)
        for (const other of others)
          time.at(time.now() + viewDelayMs, () => other.setLoad(nodeId, { used, max }));
      return answer;
    };
    return {
      ...ledger,
      reserve: (nodeId, lease, ttlMs) => {
        const answer = ledger.reserve(nodeId, lease, ttlMs);
        return answer instanceof Promise ? answer : show(nodeId, answer);
      },
      release: (nodeId, lease) => {
        const answer = ledger.release(nodeId, lease);
        return answer instanceof Promise ? answer : show(nodeId, answer);
      },
    };
  }

  const linkTo = (engine: () => Engine): NodeLink => ({
    deliver({ nodeId, attempt, job: { jobId, spec } }) {
      const answer = { nodeId, jobId, attempt };
      const number = spec.utteranceIndex;
      const node = Number(nodeId.slice('node-'.length));
      const tookMs = nodes.begin(node, work[number] as number);
      time.at(time.now(), () => engine().acknowledge(answer).catch(fail));
      const name = `${nodeId} ${jobId}`;
      const stop = time.at(time.now() + tookMs, () => {
        running.delete(name);
        nodes.end(node);
        if (timesMs[number] === 0) {
          ended += 1;
          timesMs[number] = time.now() - (arrivedAt[number] as number);
        }
        engine().finish(answer, PLAN_RESULT).catch(fail);
      });
      running.set(name, () => {
        stop();
        nodes.end(node);
        time.at(time.now(), () => engine().fail(answer, CANCELLED).catch(fail));
      });
      return { kind: 'written' };
    },
    cancel(nodeId, jobId) {
      const name = `${nodeId} ${jobId}`;
      running.get(name)?.();
      running.delete(name);
    },
  });

  const engines: Engine[] = [];
  for (const [at, view] of views.entries()) engines[at] = await engineOf(view, at);

  const gapMs = 1 / (load * capacityOf(fleet));
  function arrive(): void {
    const number = arrived++;
    arrivedAt[number] = time.now();
    work[number] = Math.exp(LENGTH_SPREAD * normal(traffic) - LENGTH_SPREAD ** 2 / 2);
    const seconds = Math.min(LONGEST_SECONDS, MEAN_SECONDS * (work[number] as number));
    const audio = silence.subarray(0, 2 * Math.round((seconds * BYTES_PER_SECOND) / 2));
    const engine = engines[Math.floor(traffic() * instances)] as Engine;
    Promise.resolve(engine.dispatch(planRequest(number, DAY_MS, audio))).catch(fail);
    if (arrived < jobs) time.at(time.now() + exponential(gapMs, traffic), arrive);
  }
  time.at(0, arrive);
  while (ended < jobs) {
    await time.runUntil(time.now() + STEP_MS);
    if (fault !== undefined) throw fault;
  }
  for (const engine of engines) engine.stop();
  return {
    timesMs: timesMs.slice(Math.floor(WARM_UP * jobs)).sort(),
    firstTryPercent: tries.first === 0 ? 100 : (100 * tries.taken) / tries.first,
    hedgedPercent: (100 * hedges) / jobs,
  };
}
