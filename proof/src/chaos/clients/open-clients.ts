/** All clients of a run: those of every tenant dispatch, speak, and try to read jobs of other tenants. */
import {
  createSeededChance,
  seedOf,
} from '../../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import { TENANTS, type Tenant } from '../tenants.ts';
import { type Backend, liveNear, takeTurns } from '../wire/balancer.ts';
import type { ChaosClient } from './client.ts';
import { startDispatcher } from './dispatcher.ts';
import { type Peeker, startPeeker } from './peeker.ts';
import { startSpeaker } from './speaker.ts';

export interface CrowdOptions {
  readonly seed: number;
  readonly recorder: Recorder;
  /** How much work there is: 1 is about twenty requests per second. */
  readonly load: number;
  readonly backends: () => readonly Backend[];
}

const [ACME, GLOBEX] = TENANTS as readonly [Tenant, Tenant];
/** Each tenant has clients near an instance, clients near none, clients that speak in chunks, and impatient ones. */
const SPEAK_FOR: readonly Tenant[] = [ACME, GLOBEX, GLOBEX, ACME, GLOBEX, ACME];
const DISPATCHERS_EACH = 2;
const PEEKS_PER_SECOND = 2;

export function openClients({ seed, recorder, load, backends }: CrowdOptions): Promise<ChaosClient[]> {
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
  return Promise.all([...dispatchers, ...speakers]);
}

export const openPeekers = ({ seed, recorder, backends }: Omit<CrowdOptions, 'load'>): Promise<Peeker[]> =>
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
