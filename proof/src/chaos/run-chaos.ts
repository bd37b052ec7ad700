/** One run: instances, nodes and clients come, work flows, things break, everything heals, and what was seen is handed over. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '@lingua/protocol';
import {
  createSeededChance,
  seedOf,
} from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { ofKind, type Recorder } from '../../../packages/scheduler/dist/simulation/history.js';
import type { Evidence } from '../checker/check-history.ts';
import { checkLeftovers, type Leftovers } from '../checker/leftovers.ts';
import { eventually } from '../eventually.ts';
import type { ChaosClient } from './clients/client.ts';
import { startDispatcher, toldBy } from './clients/dispatcher.ts';
import { startSpeaker } from './clients/speaker.ts';
import { type Brake, createBrake } from './fleet/brake.ts';
import { joinFieldFleetNode } from './fleet/field-fleet-node.ts';
import type { FleetNode } from './fleet/fleet-node.ts';
import { createTemper } from './fleet/hands.ts';
import { joinHttpFleetNode } from './fleet/http-fleet-node.ts';
import { joinSdkFleetNode } from './fleet/sdk-fleet-node.ts';
import { injectFaults } from './inject/injector.ts';
import type { World } from './inject/world.ts';
import { type PlannedKind, planFaults } from './plan-faults.ts';
import { probeSlots } from './probe.ts';
import type { RedisStore } from './rig/redis-store.ts';
import { FIELD_SLOTS, type Schedulers, startSchedulers } from './rig/schedulers.ts';
import { type Balancer, createBalancer, liveNear, takeTurns } from './wire/balancer.ts';
import { call } from './wire/call.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long work flows and things break. */
  readonly seconds: number;
  readonly instances: number;
  /** How much work comes: 1 is about twenty requests per second. */
  readonly load: number;
  /** None: one instance without it. */
  readonly store: RedisStore | undefined;
  /** For configuration files and logs. */
  readonly folder: string;
  readonly recorder: Recorder;
  readonly without?: readonly PlannedKind[];
}

/** Leases that were taken for work that died with its node end by themselves. */
const LEASES_END_MS = 20_000;
const LOOKS_AT_ONCE = 16;
/** Whose chances are not those of any node or client. */
const PROBE = 9_999;
const PREFIX = 'lingua';

export async function runChaos(options: ChaosOptions): Promise<Evidence> {
  const { seed, store, folder, recorder } = options;
  const schedulers = await startSchedulers({
    count: options.instances,
    folder,
    recorder,
    redisPorts: store?.ports ?? [],
  });
  const gate = await createBalancer({ backends: takeTurns(schedulers.backends) });
  const brake = createBrake();
  const nodes = await joinFleet(seed, recorder, schedulers, brake);
  const clients = await openClients(options, schedulers);
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
      backends: takeTurns(schedulers.backends),
    });
    await lookUp(recorder, gate);
    const leftovers = store && (await readLeftovers(recorder, store));
    return { history: recorder.history, logs: schedulers.logs(), leftovers };
  } finally {
    store?.thawAll();
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(nodes.map((node) => node.stop()));
    gate.close();
    await schedulers.stop();
  }
}

/**
 * Of every kind, some near each instance. Those without a socket live nowhere. So few slots that all are taken at times: only then
 * could one be sold twice.
 */
function joinFleet(
  seed: number,
  recorder: Recorder,
  { backends }: Schedulers,
  brake: Brake,
): Promise<FleetNode[]> {
  const member = (number: number, kind: string, slots: number) => ({
    name: `node-${kind}-${number}`,
    slots,
    recorder,
    brake,
    temper: createTemper(createSeededChance(seedOf(seed, kind.length * 100 + number))),
  });
  return Promise.all([
    ...[1, 2, 3, 4].map((number) =>
      joinSdkFleetNode({
        ...member(number, 'sdk', 2),
        backends: liveNear(number - 1, backends),
      }),
    ),
    ...[1, 2].map((number) =>
      joinFieldFleetNode({ ...member(number, 'field', FIELD_SLOTS), backends: takeTurns(backends) }),
    ),
    ...[1, 2].map((number) =>
      joinHttpFleetNode({ ...member(number, 'poll', 2), backends: takeTurns(backends), way: 'poll' }),
    ),
    ...[1, 2].map((number) =>
      joinHttpFleetNode({
        ...member(number, 'endpoint', 2),
        backends: takeTurns(backends),
        way: 'endpoint',
      }),
    ),
  ]);
}

function openClients(
  { seed, recorder, load }: ChaosOptions,
  { backends }: Schedulers,
): Promise<ChaosClient[]> {
  const person = (number: number, kind: string, perSecond: number) => ({
    name: `${kind}-${number}`,
    recorder,
    perSecond: perSecond * load,
    chance: createSeededChance(seedOf(seed, kind.length * 1_000 + number)),
  });
  return Promise.all([
    ...[1, 2, 3].map((number) =>
      startDispatcher({ ...person(number, 'dispatcher', 4), backends: takeTurns(backends) }),
    ),
    ...[1, 2, 3, 4, 5, 6].map((number) =>
      startSpeaker({
        ...person(number, 'speaker', 1.5),
        backends: number % 2 === 0 ? takeTurns(backends) : liveNear(number >> 1, backends),
        how: number % 3 === 0 ? 'pieces' : 'whole',
        isImpatient: number > 4,
      }),
    ),
  ]);
}

/** What the records say of every job that anybody has heard of. */
async function lookUp(recorder: Recorder, gate: Balancer): Promise<void> {
  const jobs = [...new Set(ofKind(recorder.history, 'assigned', 'accepted').map(({ job }) => job))];
  const one = async (job: string): Promise<void> => {
    const { status, body } = await eventually(() => call<JobView>(gate.port, 'GET', `/v1/job/${job}`));
    const timeline = (body.timeline ?? []).map(
      ({ at_ms, state, node_id, attempt_id, reason }) =>
        `${at_ms} ${state} ${node_id ?? ''}#${attempt_id ?? ''} ${reason ?? ''}`,
    );
    const result = status === 200 ? toldBy(body) : undefined;
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
