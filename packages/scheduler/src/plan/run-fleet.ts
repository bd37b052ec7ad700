/** Planning: one fleet under the work of one seed, and what became of every job. */
import type { NodeLink } from '../ports/node-link.ts';
import { createMachine } from './kernel/machine.ts';
import { createVirtualTime } from './kernel/virtual-time.ts';
import { createPlanEngine, PLAN_RESULT, planRequest } from './plan-engine.ts';
import { createTraffic, type Workload } from './workload.ts';

/** One entry per job, in the order of arrival. */
export interface FleetRun {
  /** From its arrival until it was sent to a node; NaN: it was refused. */
  readonly waitsMs: Float64Array;
  /** How long it occupied its slot, or would have. */
  readonly servicesMs: Float64Array;
  /** Since the run began. */
  readonly arrivedAt: Float64Array;
}

const STEP_MS = 10_000;

/** `undefined`: interrupted. */
export async function runFleet(options: {
  readonly workload: Workload;
  readonly nodes: number;
  readonly arrivals: number;
  readonly seed: string;
  readonly interrupted?: AbortSignal | undefined;
}): Promise<FleetRun | undefined> {
  const { workload, arrivals, seed, interrupted } = options;
  const time = createVirtualTime();
  const { clock } = createMachine({ time, name: 'plan' });
  const next = createTraffic(workload, seed);
  const waitsMs = new Float64Array(arrivals).fill(Number.NaN);
  const servicesMs = new Float64Array(arrivals);
  const arrivedAt = new Float64Array(arrivals);
  let arrived = 0;
  let undecided = 0;
  let fault: unknown;
  const fail = (reason: unknown): void => {
    fault ??= reason;
  };

  const link: NodeLink = {
    deliver({ nodeId, attempt, job: { jobId, spec } }) {
      const answer = { nodeId, jobId, attempt };
      const number = spec.utteranceIndex;
      const now = time.now();
      waitsMs[number] = now - (arrivedAt[number] as number);
      time.at(now, () => engine.acknowledge(answer).catch(fail));
      time.at(now + (servicesMs[number] as number), () => engine.finish(answer, PLAN_RESULT).catch(fail));
      return WRITTEN;
    },
    cancel() {},
  };
  const engine = await createPlanEngine({ clock, link, workload, nodes: options.nodes, seed });

  function expectNext(): void {
    const { afterMs, serviceMs } = next();
    time.at(time.now() + afterMs, () => arrive(serviceMs));
  }

  function arrive(serviceMs: number): void {
    const number = arrived++;
    servicesMs[number] = serviceMs;
    arrivedAt[number] = time.now();
    undecided += 1;
    Promise.resolve(engine.dispatch(planRequest(number, workload.maxWaitMs))).then(() => {
      undecided -= 1;
    }, fail);
    if (arrived < arrivals) expectNext();
  }

  expectNext();
  while (arrived < arrivals || undecided > 0) {
    if (interrupted?.aborted === true) break;
    await time.runUntil(time.now() + STEP_MS);
    if (fault !== undefined) throw fault;
  }
  engine.stop();
  return arrived < arrivals || undecided > 0 ? undefined : { waitsMs, servicesMs, arrivedAt };
}

const WRITTEN = { kind: 'written' } as const;
