/** Jobs of a situation, such as an overload, by the scheduler's own engine on virtual time: one instance, equal nodes. */
import { createCapacityLedger } from '../../../packages/scheduler/dist/adapters/memory/capacity-ledger.js';
import type { DispatchRequest } from '../../../packages/scheduler/dist/domain/dispatch.js';
import { NodeNumbers } from '../../../packages/scheduler/dist/domain/numbered/node-numbers.js';
import type { Regions } from '../../../packages/scheduler/dist/domain/region.js';
import { createMachine } from '../../../packages/scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../packages/scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../../packages/scheduler/dist/plan/kernel/virtual-time.js';
import {
  createPlanEngine,
  PLAN_RESULT,
  planRequest,
} from '../../../packages/scheduler/dist/plan/plan-engine.js';
import { createFleetView } from '../../../packages/scheduler/dist/runtime/fleet/fleet-view.js';
import { exponential, normal } from './simulated-nodes.ts';

export interface Situation {
  readonly nodes: number;
  readonly slots: number;
  /** Of each node; undefined: it names none. */
  readonly regionOf?: (node: number) => string | undefined;
  readonly regions?: Regions;
  readonly jobs: number;
  /** Between two jobs, on average. */
  readonly gapMs: number;
  readonly waitMs: number;
  request(number: number): Partial<DispatchRequest> & { readonly region?: string };
  /** What the way adds. */
  readonly wayMs?: (number: number, node: number) => number;
  /** Machines are taken away, each on average once in this time, and replaced. */
  readonly takenAway?: { readonly everyMs: number; readonly noticeMs: number; readonly isAnnounced: boolean };
  readonly refusesLate?: boolean;
  readonly seed: string;
}

export interface JobFate {
  /** From arrival to result; undefined: refused or failed. */
  readonly ms: number | undefined;
  /** How long the client waited for a refusal. */
  readonly refusedAfterMs: number | undefined;
}

/** Of the logarithm of the length of a job. */
const SPREAD = 0.5;
export const MEAN_MS = 600;
const REPLACED_AFTER_MS = 30_000;
const STEP_MS = 5_000;
/** After the last arrival; what has no outcome then is lost. */
const PATIENCE_MS = 300_000;

export async function runSituation(situation: Situation): Promise<readonly JobFate[]> {
  const { nodes, slots, jobs, waitMs, seed, takenAway } = situation;
  const time = createVirtualTime();
  const { clock } = createMachine({ time, name: 'situation' });
  const [traffic, work, misfortune] = ['traffic', 'work', 'misfortune'].map((of) =>
    seededChance(`${seed}/${of}`),
  );
  const numbers = new NodeNumbers();
  const fleet = createFleetView(numbers, situation.regions);
  const ledger = createCapacityLedger({ clock, numbers });
  const fates: { ms?: number; refusedAfterMs?: number; at: number }[] = [];
  /** Grows when a machine is replaced: what ran on the old one never answers. */
  const lives = new Array<number>(nodes).fill(0);
  let arrived = 0;
  let open = 0;
  let fault: unknown;
  const fail = (reason: unknown): void => {
    fault ??= reason;
  };
  const end = (number: number, fate: { ms?: number; refusedAfterMs?: number }): void => {
    const known = fates[number] as (typeof fates)[number];
    if (known.ms !== undefined || known.refusedAfterMs !== undefined) return;
    Object.assign(known, fate);
    open -= 1;
  };

  const engine = await createPlanEngine({
    clock,
    link: {
      deliver({ nodeId, attempt, job: { jobId, spec } }) {
        const number = spec.utteranceIndex;
        const node = Number(nodeId.slice('node-'.length));
        const life = lives[node];
        const report = { nodeId, attempt, jobId };
        const tookMs = MEAN_MS * Math.exp(SPREAD * normal(work as () => number) - SPREAD ** 2 / 2);
        time.at(time.now(), () => engine.acknowledge(report).catch(fail));
        time.at(time.now() + tookMs + (situation.wayMs?.(number, node) ?? 0), () => {
          if (lives[node] !== life) return;
          engine.finish(report, PLAN_RESULT).then((result) => {
            if (result.kind === 'accepted')
              end(number, { ms: time.now() - (fates[number] as { at: number }).at });
          }, fail);
        });
        return { kind: 'written' };
      },
      cancel() {},
    },
    workload: { serviceMs: MEAN_MS, slots, maxWaitMs: waitMs },
    nodes,
    seed,
    shared: { fleet, ledger, hasPeers: false },
    refusesLate: situation.refusesLate,
  });

  const viewOf = (node: number) => {
    const view = fleet.view(`node-${node}`);
    if (view === undefined) throw new Error('the node is gone');
    return view;
  };
  for (let node = 0; node < nodes; node += 1)
    fleet.upsert({ ...viewOf(node), region: situation.regionOf?.(node) });

  function takeAway(node: number): void {
    const { everyMs, noticeMs, isAnnounced } = takenAway as NonNullable<typeof takenAway>;
    time.at(time.now() + exponential(everyMs, misfortune as () => number), () => {
      const fresh = viewOf(node);
      const { nodeId } = fresh;
      if (isAnnounced) fleet.upsert({ ...fresh, health: 'draining', leavingAt: clock.now() + noticeMs });
      time.at(time.now() + noticeMs, () => {
        lives[node] = (lives[node] as number) + 1;
        fleet.upsert({ ...viewOf(node), health: 'offline', isConnected: false });
        engine.nodeLeft(nodeId, RECONNECT_GRACE_MS);
      });
      time.at(time.now() + noticeMs + REPLACED_AFTER_MS, () => {
        void (async () => {
          await ledger.forget(nodeId);
          fleet.setLoad(nodeId, await ledger.declare(nodeId, { slots, isAccepting: true }));
          const { leavingAt: _, ...view } = fresh;
          fleet.upsert(view);
          takeAway(node);
        })().catch(fail);
      });
    });
  }
  if (takenAway !== undefined) for (let node = 0; node < nodes; node += 1) takeAway(node);

  function arrive(): void {
    const number = arrived++;
    open += 1;
    fates[number] = { at: time.now() };
    const { region, ...asked } = situation.request(number);
    const plain = planRequest(number, waitMs);
    const tenantId = asked.tenantId ?? plain.tenantId;
    const request = { ...plain, ...asked, tenantId, need: { ...plain.need, tenantId, region } };
    Promise.resolve(engine.dispatch(request)).then((outcome) => {
      if (outcome.kind === 'refused')
        end(number, { refusedAfterMs: time.now() - (fates[number] as { at: number }).at });
    }, fail);
    if (arrived < jobs) time.at(time.now() + exponential(situation.gapMs, traffic as () => number), arrive);
  }
  time.at(0, arrive);
  let lastArrival = Number.POSITIVE_INFINITY;
  while (arrived < jobs || (open > 0 && time.now() < lastArrival + PATIENCE_MS)) {
    await time.runUntil(time.now() + STEP_MS);
    if (fault !== undefined) throw fault;
    if (arrived === jobs) lastArrival = Math.min(lastArrival, time.now());
  }
  engine.stop();
  return fates.map(({ ms, refusedAfterMs }) => ({ ms, refusedAfterMs }));
}

const RECONNECT_GRACE_MS = 2_000;
