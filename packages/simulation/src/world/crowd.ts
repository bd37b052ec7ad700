/** Simulation: all clients. Some speak through the SDK, others dispatch over HTTP; some leave for good and others come. */

import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { ClientWorld, SimulatedClient } from '../clients/client-world.ts';
import { startDispatcher } from '../clients/dispatcher.ts';
import { startPeeker } from '../clients/peeker.ts';
import { startSpeaker } from '../clients/speaker.ts';
import type { HistoryEvent } from '../history.ts';
import type { Network } from '../net/network.ts';
import { pairOf, type Scenario, TENANTS } from './scenario.ts';

export interface Crowd {
  readonly size: number;
  nameAt(at: number): string;
  machineAt(at: number): Machine | undefined;
  asked(): number;
  /** Its connection breaks; the SDK reconnects. */
  cut(at: number): void;
  /** It leaves without closing anything; another client takes its place. */
  vanish(at: number): void;
  stop(): void;
  isDone(): boolean;
  /** This many requests at once, divided among the tenants, each sent once. */
  askAtOnce(count: number): void;
}

/** How often a client reads a job of another tenant, per request. */
const PEEKS = 0.02;

export function createCrowd(deps: {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly world: ClientWorld;
  readonly seed: string;
  readonly scenario: Scenario;
}): Crowd {
  const { time, network, world, scenario } = deps;
  const size = scenario.speakers + scenario.dispatchers;
  const clients: SimulatedClient[] = [];
  const dispatchers: { dispatch(): void }[] = [];
  /** How many clients there have been at each place. */
  const lives: number[] = [];
  const tenantOf = new Map<string, string>();
  let starts = 0;
  let askedBefore = 0;
  let isStopped = false;

  function start(at: number): void {
    starts += 1;
    const isSpeaker = at < scenario.speakers;
    const name = `${isSpeaker ? 'speaker' : 'dispatcher'}-${starts}`;
    const tenant = TENANTS[at % TENANTS.length] ?? TENANTS[0];
    tenantOf.set(name, tenant);
    const life = (lives[at] ?? 0) + 1;
    lives[at] = life;
    const parts = {
      // Neighbours belong to different tenants.
      requests: `${Math.floor(at / TENANTS.length)}.${life}`,
      machine: createMachine({ time, name }),
      world,
      chance: seededChance(`${deps.seed}/${name}`),
      tenant,
      pool: tenant,
      languages: pairOf(Math.floor(at / TENANTS.length)),
      perSecond: scenario.perSecond / size,
    };
    if (isSpeaker) {
      clients[at] = startSpeaker({ ...parts, how: at % 3 === 0 ? 'pieces' : 'whole' });
      return;
    }
    const dispatcher = startDispatcher(parts);
    clients[at] = dispatcher;
    dispatchers[at - scenario.speakers] = dispatcher;
  }

  for (let at = 0; at < size; at++) start(at);
  const peekers = TENANTS.map((tenant) =>
    startPeeker({
      machine: createMachine({ time, name: `peeker-of-${tenant}` }),
      world,
      chance: seededChance(`${deps.seed}/peeker-of-${tenant}`),
      tenant,
      perSecond: (scenario.perSecond * PEEKS) / TENANTS.length,
      jobOfOthers: () => lastAcceptedOf(world.recorder.history, (client) => tenantOf.get(client) !== tenant),
    }),
  );

  return {
    size,
    machineAt: (at) => clients[at]?.machine,
    nameAt: (at) => clients[at]?.machine.name ?? '',
    asked: () => clients.reduce((sum, client) => sum + client.asked(), askedBefore),
    cut(at) {
      const machine = clients[at]?.machine;
      if (machine !== undefined) network.cutOff(machine, 'the connection broke');
    },
    vanish(at) {
      const client = clients[at];
      if (client === undefined || isStopped) return;
      askedBefore += client.asked();
      client.machine.kill();
      network.cutOff(client.machine, 'the client is gone');
      world.recorder.record({ kind: 'client_left', client: client.machine.name });
      start(at);
    },
    stop() {
      isStopped = true;
      for (const client of [...clients, ...peekers]) client.stop();
    },
    isDone: () => clients.every((client) => client.isDone()),
    askAtOnce(count) {
      const own = TENANTS.map((_, tenant) =>
        dispatchers.filter((_, at) => (scenario.speakers + at) % TENANTS.length === tenant),
      );
      for (let at = 0; at < count; at++) {
        const [tenant, turn] = [at % TENANTS.length, Math.floor(at / TENANTS.length)];
        const asking = own[tenant] ?? [];
        asking[turn % asking.length]?.dispatch();
      }
    },
  };
}

function lastAcceptedOf(
  history: readonly HistoryEvent[],
  isMeant: (client: string) => boolean,
): string | undefined {
  const last = history.findLast((each) => each.kind === 'accepted' && isMeant(each.client));
  return last?.kind === 'accepted' ? last.job : undefined;
}
