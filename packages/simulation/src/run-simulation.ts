/**
 * Simulation: one run. The real core of every instance, with nodes and clients that sometimes misbehave, on virtual time. The same
 * seed gives the same history, byte for byte. The checker decides whether the history is correct.
 */

import { seededChance } from '../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Log } from '../../scheduler/dist/ports/log.js';
import type { Meter } from '../../scheduler/dist/ports/meter.js';
import { createFaultInjector } from './faults/fault-injector.ts';
import { FAULTS, SINGLE_INSTANCE_FAULTS } from './faults/fault-plan.ts';
import { createRecorder, type FaultKind, type HistoryEvent } from './history.ts';
import { createNetwork } from './net/network.ts';
import { createSimulatedStore } from './store/simulated-store.ts';
import { storeSettings } from './store/store-settings.ts';
import { createCrowd } from './world/crowd.ts';
import { createFleet } from './world/fleet.ts';
import { lookUpJobs } from './world/look-up-jobs.ts';
import { createLevels } from './world/sample-levels.ts';
import { configOf, SCENARIO, type Scenario } from './world/scenario.ts';
import { createSchedulers } from './world/schedulers.ts';

export interface SimulationOptions {
  readonly seed: string;
  /** Requests of clients before the run comes to rest. */
  readonly jobs: number;
  /** Faults that may occur; absent: all. */
  readonly faults?: readonly FaultKind[] | undefined;
  readonly scenario?: Partial<Scenario> | undefined;
  /** Called from time to time with the number of requests so far. */
  readonly progress?: ((asked: number) => void) | undefined;
  /** Log lines of instances, for debugging. */
  readonly log?: ((instance: string) => Log) | undefined;
}

export interface Simulation {
  readonly history: readonly HistoryEvent[];
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** Virtual time that passed. */
  readonly virtualMs: number;
  readonly events: number;
}

/** No simulated instance is scraped. */
export const NO_METER: Meter = { count() {}, gauge() {}, observe() {} };

const [FIRST_MS, STEP_MS] = [3_000, 1_000];
/** Longer than every deadline: a job without an outcome by then gets none. */
const MOST_REST_MS = 300_000;
/** Clocks of instances may differ by seconds. Those of the store's servers, which decide leases and presence, are synchronized. */
const INSTANCES_APART_MS = 3_000;
const SERVERS_APART_MS = 50;
/** By then every node is connected and known to all instances. */
const FOUND_MS = 20_000;
/** The longest time that a lease outlives its job. */
const SETTLE_MS = 70_000;
const PROBE_MS = 2_500;
/** Requests of all tenants together, per slot: enough to take the last slot although some requests are late. */
const PROBE_SHARE = 1.25;
/** Nodes with all stages take these requests, too. */
const PARTIAL_PROBE_SHARE = 2;

export async function runSimulation(options: SimulationOptions): Promise<Simulation> {
  const scenario = { ...SCENARIO, ...options.scenario };
  const { seed } = options;
  const time = createVirtualTime();
  const recorder = createRecorder(time.now);
  const network = createNetwork({ time, chance: seededChance(`${seed}/network`) });
  const isSingleInstance = scenario.instances === 1;
  const clocks = seededChance(`${seed}/clocks`);
  const wrongBy = (mostMs: number): number => Math.round((2 * clocks() - 1) * mostMs);
  const config = configOf('any', isSingleInstance, scenario);
  const store = isSingleInstance
    ? undefined
    : createSimulatedStore({
        time,
        chance: seededChance(`${seed}/store`),
        settings: storeSettings(config),
        shards: scenario.shards,
        clockOffsetMs: () => wrongBy(SERVERS_APART_MS),
      });
  const schedulers = createSchedulers({
    time,
    network,
    chance: seededChance(`${seed}/balancer`),
    recorder,
    seed,
    scenario,
    log: options.log ?? (() => QUIET),
    meter: NO_METER,
    clockOffsetMs: () => wrongBy(INSTANCES_APART_MS),
    storeOf: store?.storeFor,
  });
  for (let at = 0; at < scenario.instances; at++) schedulers.start(at);
  const fleet = createFleet({ time, network, world: schedulers.nodes, seed: `${seed}/fleet`, scenario });
  await time.runUntil(FIRST_MS);

  const crowd = createCrowd({ time, network, world: schedulers.clients, seed: `${seed}/crowd`, scenario });
  const injector = createFaultInjector({
    time,
    chance: seededChance(`${seed}/faults`),
    kinds:
      options.faults ?? (isSingleInstance ? SINGLE_INSTANCE_FAULTS : (Object.keys(FAULTS) as FaultKind[])),
    recorder,
    network,
    schedulers,
    instances: scenario.instances,
    suspended: scenario.suspended,
    slept: scenario.slept,
    fleet,
    crowd,
    store,
  });
  const levels = createLevels({
    recorder,
    config,
    instances: schedulers.running,
    places: scenario.instances,
    store,
  });
  injector.start();
  while (crowd.asked() < options.jobs) {
    await time.runUntil(time.now() + STEP_MS);
    levels.record();
    options.progress?.(crowd.asked());
  }

  // No more work comes, and all faults end.
  crowd.stop();
  injector.stop();
  fleet.behave();
  const latest = time.now() + MOST_REST_MS;
  while ((injector.isBusy() || !crowd.isDone()) && time.now() < latest)
    await time.runUntil(time.now() + STEP_MS);

  // If no slot leaked, every slot can be taken: soon where no fault was, and in the end everywhere.
  for (const restMs of [FOUND_MS, SETTLE_MS]) {
    await time.runUntil(time.now() + restMs);
    recorder.record({ kind: 'quiet' });
    fleet.pauseWork(true);
    recorder.record({ kind: 'probe_began', nodes: fleet.fillable() });
    crowd.askAtOnce(
      Math.ceil(PROBE_SHARE * scenario.nodes * scenario.slots),
      Math.ceil(PARTIAL_PROBE_SHARE * scenario.stageNodes * scenario.slots),
    );
    await time.runUntil(time.now() + PROBE_MS);
    recorder.record({ kind: 'probe_ended' });
    fleet.pauseWork(false);
    while (!crowd.isDone() && time.now() < latest + MOST_REST_MS) await time.runUntil(time.now() + STEP_MS);
  }

  // Audio that came with a repeated request is kept until the deadline of its job.
  const restsBy = time.now() + config.scheduler.job_deadline_ms + STEP_MS;
  do await time.runUntil(time.now() + STEP_MS);
  while (!levels.areAtRest() && time.now() < restsBy);
  levels.record();
  await lookUpJobs({ time, recorder, instances: schedulers.running });

  return {
    history: recorder.history,
    faults: injector.counts,
    virtualMs: time.now(),
    events: time.events,
  };
}

const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {} };
