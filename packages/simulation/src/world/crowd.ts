/**
 * Simulation: all clients. Some speak through the SDK, others dispatch over HTTP, some want several languages; some leave for good and others
 * come.
 */

import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { startCaller, type Wanted } from '../clients/caller.ts';
import type { ClientWorld, SimulatedClient } from '../clients/client-world.ts';
import { startDispatcher } from '../clients/dispatcher.ts';
import { startIntruder } from '../clients/intruder.ts';
import { startPeeker } from '../clients/peeker.ts';
import type { Invitation } from '../clients/person.ts';
import { startSpeaker } from '../clients/speaker.ts';
import type { HistoryEvent } from '../history.ts';
import type { Network } from '../net/network.ts';
import { languagesOf, pairOf, roomLanguages, type Scenario, TENANTS } from './scenario.ts';

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
  /** This many requests at once, divided among the tenants, each sent once. `partial`: of each kind that nodes with some stages can begin. */
  askAtOnce(whole: number, partial: number): void;
}

/** Of so many requests of a caller, one has a single language. */
const SINGLES = 4;
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
  const alone = (['speaker', 'dispatcher', 'caller', 'lecturer'] as const).flatMap((kind) =>
    Array.from({ length: scenario[`${kind}s`] }, () => kind),
  );
  const inRooms = scenario.rooms * scenario.people * TENANTS.length;
  const places = [...alone, ...Array.from({ length: inRooms }, () => 'person' as const)];
  const size = places.length;
  const clients: SimulatedClient[] = [];
  const dispatchers: { dispatch(): void }[] = [];
  const callers: { ask(wanted: Wanted): void }[] = [];
  /** How many clients there have been at each place. */
  const lives: number[] = [];
  const tenantOf = new Map<string, string>();
  /** By tenant and room. */
  const invitations = new Map<string, Invitation>();
  let starts = 0;
  let askedBefore = 0;
  let isStopped = false;

  /** Members of a room are those of one tenant, in turn. */
  function seatAt(at: number, tenant: string) {
    const number = Math.floor((at - alone.length) / TENANTS.length);
    const [room, seat] = [Math.floor(number / scenario.people), number % scenario.people];
    const name = `${tenant} ${room}`;
    const invitation = invitations.get(name) ?? { code: undefined };
    invitations.set(name, invitation);
    const isRoaming = seat === scenario.people - 1;
    return { invitation, isHost: seat === 0, isRoaming, languages: roomLanguages(room + seat, scenario) };
  }

  function start(at: number): void {
    starts += 1;
    const kind = places[at];
    const name = `${kind}-${starts}`;
    const tenant = tenantAt(at);
    tenantOf.set(name, tenant);
    const life = (lives[at] ?? 0) + 1;
    lives[at] = life;
    const pair = Math.floor(at / TENANTS.length);
    const parts = {
      // Neighbours belong to different tenants.
      requests: `${pair}.${life}`,
      machine: createMachine({ time, name }),
      world,
      chance: seededChance(`${deps.seed}/${name}`),
      tenant,
      pool: tenant,
      perSecond: scenario.perSecond / size,
    };
    const how = at % 3 === 0 ? 'pieces' : 'whole';
    const many = languagesOf(pair, scenario.targets);
    if (kind === 'speaker') clients[at] = startSpeaker({ ...parts, languages: pairOf(pair), how });
    else if (kind === 'lecturer') clients[at] = startSpeaker({ ...parts, languages: many, how });
    else if (kind === 'person') {
      const inRoom = seatAt(at, tenant);
      const [own] = inRoom.languages;
      clients[at] = startSpeaker({ ...parts, languages: [own, own], how, inRoom });
    } else if (kind === 'caller') {
      const caller = startCaller({
        ...parts,
        languages: (number) =>
          languagesOf(pair + number, scenario.hasSingles && number % SINGLES === 0 ? 1 : scenario.targets),
      });
      clients[at] = caller;
      callers[at] = caller;
    } else {
      const dispatcher = startDispatcher({ ...parts, languages: pairOf(pair) });
      clients[at] = dispatcher;
      dispatchers[at] = dispatcher;
    }
  }

  /** A request in turn by those clients of each tenant that can make it. */
  function inTurns<Client>(asking: readonly Client[], count: number, ask: (client: Client) => void): void {
    const own = TENANTS.map((tenant) => asking.filter((_, at) => tenantAt(at) === tenant));
    for (let at = 0; at < count; at++) {
      const [tenant, turn] = [at % TENANTS.length, Math.floor(at / TENANTS.length)];
      const clientsOf = own[tenant] ?? [];
      const client = clientsOf[turn % clientsOf.length];
      if (client !== undefined) ask(client);
    }
  }

  for (let at = 0; at < size; at++) start(at);
  const intruders = (inRooms === 0 ? [] : TENANTS).map((tenant) =>
    startIntruder({
      machine: createMachine({ time, name: `intruder-of-${tenant}` }),
      world,
      chance: seededChance(`${deps.seed}/intruder-of-${tenant}`),
      tenant,
      codes: () =>
        [...invitations].flatMap(([name, { code }]) =>
          code === undefined || name.startsWith(`${tenant} `) ? [] : code,
        ),
    }),
  );
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
      for (const client of [...clients, ...peekers, ...intruders]) client.stop();
    },
    isDone: () => clients.every((client) => client.isDone()),
    askAtOnce(whole, partial) {
      inTurns(dispatchers, whole, (dispatcher) => dispatcher.dispatch());
      // Texts fill the nodes that translate, speech in two languages those that recognise.
      for (const wanted of [
        { languages: 1, isTyped: true, isSpoken: false },
        { languages: 2, isTyped: false, isSpoken: false },
        ...(scenario.dispatchers === 0 ? [{ languages: 1, isTyped: false, isSpoken: true }] : []),
      ])
        inTurns(callers, partial, (caller) => caller.ask(wanted));
    },
  };
}

const tenantAt = (at: number) => TENANTS[at % TENANTS.length] ?? TENANTS[0];

function lastAcceptedOf(
  history: readonly HistoryEvent[],
  isMeant: (client: string) => boolean,
): string | undefined {
  const last = history.findLast(
    (each) => each.kind === 'accepted' && each.job !== undefined && isMeant(each.client),
  );
  return last?.kind === 'accepted' ? last.job : undefined;
}
