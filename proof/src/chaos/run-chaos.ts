/** One run: instances, nodes and clients start, work flows, faults begin and end, and the history is returned. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '@lingua/protocol';
import {
  createSeededChance,
  seedOf,
} from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { ofKind, type Recorder } from '../../../packages/simulation/dist/history.js';
import type { Evidence } from '../checker/check-history.ts';
import { checkLeftovers, type Leftovers } from '../checker/leftovers.ts';
import { eventually } from '../eventually.ts';
import { resultOf } from './clients/dispatcher.ts';
import { openClients, openPeekers } from './clients/open-clients.ts';
import { createBrake } from './fleet/brake.ts';
import { joinFleet } from './fleet/join-fleet.ts';
import { injectFaults } from './inject/injector.ts';
import type { World } from './inject/world.ts';
import { type PlannedKind, planFaults } from './plan-faults.ts';
import { probeSlots } from './probe.ts';
import { configOfRun, configText } from './rig/configured.ts';
import type { RedisStore } from './rig/redis-store.ts';
import { startSchedulers } from './rig/schedulers.ts';
import { OPERATOR_TOKEN } from './tenants.ts';
import { instanceNames, withMessages } from './watch/monitored-calls.ts';
import { watchCalls } from './watch/watch-calls.ts';
import { watchLevels } from './watch/watch-levels.ts';
import { type Balancer, createBalancer, takeTurns } from './wire/balancer.ts';
import { call } from './wire/call.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long work flows and faults occur. */
  readonly seconds: number;
  readonly instances: number;
  /** How much work there is: 1 is about twenty requests per second. */
  readonly load: number;
  /** Rooms of each tenant. */
  readonly rooms: number;
  /** When a write to the store counts. */
  readonly durability: 'primary' | 'replica';
  /** None: one instance without it. */
  readonly store: RedisStore | undefined;
  /** For configuration files and logs. */
  readonly folder: string;
  readonly recorder: Recorder;
  readonly without?: readonly PlannedKind[];
}

/** Leases of work that died with its node expire. */
const LEASES_END_MS = 40_000;
/** A run of this length may also take longer to end. */
const LONG_S = 40;
const LOOKS_AT_ONCE = 16;
/** A random sequence that no node or client uses. */
const PROBE = 9_999;
const PREFIX = 'lingua';

export async function runChaos(options: ChaosOptions): Promise<Evidence> {
  const { seed, store, folder, recorder } = options;
  const calls = watchCalls(store?.ports ?? []);
  const schedulers = await startSchedulers({
    count: options.instances,
    folder,
    recorder,
    configOf: (port) => configText(port, store?.ports ?? [], options.durability),
    redisPorts: store?.ports ?? [],
  });
  const gate = await createBalancer({ backends: takeTurns(schedulers.backends) });
  const brake = createBrake();
  const { backends } = schedulers;
  const nodes = await joinFleet({ seed, recorder, backends, brake });
  const clients = await openClients({ ...options, backends });
  const peekers = await openPeekers({ seed, recorder, backends });
  const levels = watchLevels({
    recorder,
    backends,
    config: configOfRun(store?.ports ?? []),
    isPatient: options.seconds >= LONG_S,
    streams: store && (() => store.streams(PREFIX)),
  });
  const world: World = { recorder, schedulers, store, nodes, clients };
  try {
    const ends = sleep(options.seconds * 1_000);
    await injectFaults(world, planFaults(options), options.seconds * 1_000);
    await ends;
    await store?.whole();
    recorder.record({ kind: 'quiet' });
    await Promise.all(clients.map((client) => client.finish()));
    await probeSlots({
      recorder,
      brake,
      chance: createSeededChance(seedOf(seed, PROBE)),
      backends: takeTurns(backends),
    });
    await Promise.all(peekers.map((peeker) => peeker.stop()));
    await lookUp(recorder, gate);
    const [leftovers] = await Promise.all([store && readLeftovers(recorder, store), levels.settle()]);
    if (leftovers !== undefined) levels.noteKeys(leftovers.keys);
    const logs = schedulers.logs();
    const { scripts, messages } = calls.seen();
    const epochMs = Date.now() - recorder.now();
    const history = withMessages(recorder.history, messages, { epochMs, names: instanceNames(logs) });
    return { history, logs, scripts, leftovers };
  } finally {
    calls.stop();
    store?.thawAll();
    await Promise.all([levels.stop(), ...peekers.map((peeker) => peeker.stop())]);
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(nodes.map((node) => node.stop()));
    gate.close();
    await schedulers.stop();
  }
}

/** Reads the record of every job in the history. */
async function lookUp(recorder: Recorder, gate: Balancer): Promise<void> {
  const jobs = [...new Set(ofKind(recorder.history, 'assigned', 'accepted').flatMap(({ job }) => job ?? []))];
  const one = async (job: string): Promise<void> => {
    const { status, body } = await eventually(() =>
      call<JobView>(gate.port, 'GET', `/v1/job/${job}`, { token: OPERATOR_TOKEN }),
    );
    const timeline = (body.timeline ?? []).map(
      ({ at_ms, state, node_id, attempt_id, reason }) =>
        `${at_ms} ${state} ${node_id ?? ''}#${attempt_id ?? ''} ${reason ?? ''}`,
    );
    const result = status === 200 ? resultOf(body) : undefined;
    recorder.record({
      kind: 'looked_up',
      job,
      state: status === 200 ? body.state : undefined,
      timeline,
      ...(result !== undefined && { result }),
    });
  };
  const looks = Array.from({ length: LOOKS_AT_ONCE }, async () => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) await one(job);
  });
  await Promise.all(looks);
}

async function readLeftovers(recorder: Recorder, store: RedisStore): Promise<Leftovers> {
  let last: Leftovers | undefined;
  const isClean = async (): Promise<boolean> => {
    const keys = await store.keys(PREFIX);
    const livingInstances = keys.flatMap(({ name }) => /^schedulers:presence:(.+)$/.exec(name)?.[1] ?? []);
    last = { at: recorder.now(), keys, livingInstances };
    return checkLeftovers(last).violations.length === 0;
  };
  await eventually(isClean, { withinMs: LEASES_END_MS }).catch((fault: unknown) => {
    if (last === undefined) throw fault;
  });
  return last as Leftovers;
}
