/** All clients of a run: those of every tenant dispatch, speak, and try to read jobs of other tenants. */
import {
  createSeededChance,
  seedOf,
} from '../../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import { TENANTS, type Tenant } from '../tenants.ts';
import { type Backend, liveNear, takeTurns } from '../wire/balancer.ts';
import { startCaller, wantedBy } from './caller.ts';
import type { ChaosClient } from './client.ts';
import { startDispatcher } from './dispatcher.ts';
import { type Peeker, startPeeker } from './peeker.ts';
import { startSpeaker } from './speaker.ts';

export interface CrowdOptions {
  readonly seed: number;
  readonly recorder: Recorder;
  /** How much work there is: 1 is about twenty requests per second. */
  readonly load: number;
  /** Rooms of each tenant. */
  readonly rooms: number;
  readonly backends: () => readonly Backend[];
}

const [ACME, GLOBEX] = TENANTS as readonly [Tenant, Tenant];
/** Each tenant has clients near an instance, clients near none, clients that speak in chunks, and impatient ones. */
const SPEAK_FOR: readonly Tenant[] = [ACME, GLOBEX, GLOBEX, ACME, GLOBEX, ACME];
const DISPATCHERS_EACH = 2;
const PEEKS_PER_SECOND = 2;

/** Of a room: all but the last speak; that one comes, leaves, and comes again. Two speak the same language. */
const PEOPLE = 5;

export function openClients(options: CrowdOptions): Promise<ChaosClient[]> {
  const { seed, recorder, load, rooms, backends } = options;
  const person = (name: string, number: number, perSecond: number) => ({
    name: `${name}-${number}`,
    recorder,
    perSecond: perSecond * load,
    chance: createSeededChance(seedOf(seed, name.length * 1_000 + number)),
  });
  const dispatchers = TENANTS.flatMap((tenant) =>
    Array.from({ length: DISPATCHERS_EACH }, (_, at) =>
      startDispatcher({
        ...person(`dispatcher-${tenant.name}`, at + 1, 3),
        tenant,
        requests: String(at + 1),
        backends: takeTurns(backends),
      }),
    ),
  );
  const speakers = SPEAK_FOR.map((tenant, at) =>
    startSpeaker({
      ...person('speaker', at + 1, 1.5),
      tenant,
      backends: at % 2 === 1 ? takeTurns(backends) : liveNear((at + 1) >> 1, backends),
      how: at % 3 === 2 ? 'pieces' : 'whole',
      isImpatient: at > 3,
    }),
  );
  const people = TENANTS.flatMap((tenant, of) =>
    Array.from({ length: rooms }, (_, number) => {
      const invitation = { code: undefined };
      return Array.from({ length: PEOPLE }, (_, seat) =>
        startSpeaker({
          ...person('person', (of * rooms + number) * PEOPLE + seat + 1, 0.4),
          tenant,
          backends: seat % 2 === 1 ? takeTurns(backends) : liveNear(seat, backends),
          how: seat === 1 ? 'pieces' : 'whole',
          isImpatient: seat > 2,
          inRoom: {
            invitation,
            isHost: seat === 0,
            isRoaming: seat === PEOPLE - 1,
            languages: turned(['en', 'zh', tenant.language], seat),
          },
        }),
      );
    }).flat(),
  );
  // With several languages, each tenant has a program and a speaker.
  const callers = TENANTS.map((tenant, at) =>
    startCaller({
      ...person('caller', at + 1, 0.4),
      tenant,
      requests: `many-${at + 1}`,
      backends: takeTurns(backends),
    }),
  );
  const lecturers = TENANTS.map((tenant, at) =>
    startSpeaker({
      ...person('lecturer', at + 1, 0.3),
      tenant,
      backends: liveNear(at, backends),
      how: at === 0 ? 'whole' : 'pieces',
      isImpatient: false,
      languages: wantedBy(tenant),
    }),
  );
  return Promise.all([...dispatchers, ...speakers, ...people, ...callers, ...lecturers]);
}

/** The same languages, beginning with another one. */
const turned = (all: readonly string[], by: number): readonly [string, ...string[]] => {
  const first = by % all.length;
  return [...all.slice(first), ...all.slice(0, first)] as [string, ...string[]];
};

export const openPeekers = ({
  seed,
  recorder,
  backends,
}: Omit<CrowdOptions, 'load' | 'rooms'>): Promise<Peeker[]> =>
  Promise.all(
    TENANTS.map((tenant, at) =>
      startPeeker({
        tenant,
        recorder,
        perSecond: PEEKS_PER_SECOND,
        chance: createSeededChance(seedOf(seed, PEEKERS + at)),
        backends: takeTurns(backends),
      }),
    ),
  );

/** A random sequence that nothing else uses. */
const PEEKERS = 9_000;
