/** All nodes of a run: every tenant has some of every kind. */
import {
  createSeededChance,
  seedOf,
} from '../../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import { STAGES, type Stage } from '../../../../packages/scheduler/dist/domain/stage.js';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import { LEGACY_SLOTS } from '../rig/configured.ts';
import { TENANTS, type Tenant } from '../tenants.ts';
import { type Backend, liveNear, takeTurns } from '../wire/balancer.ts';
import type { Brake } from './brake.ts';
import type { FleetNode } from './fleet-node.ts';
import { joinHttpFleetNode } from './http-fleet-node.ts';
import { joinLegacyFleetNode } from './legacy-fleet-node.ts';
import { createTemper } from './node-process.ts';
import { joinPythonFleetNode, whyNoPython } from './python-fleet-node.ts';
import { joinSdkFleetNode } from './sdk-fleet-node.ts';

/** The nodes of one tenant join stages; those of the other have one stage each. */
const STAGES_OF: readonly (readonly Stage[])[][] = [
  [['asr', 'semantic'], ['nmt'], ['tts']],
  [['asr'], ['semantic'], ['nmt'], ['tts']],
];

/**
 * Of every kind, some near each instance. Those without a socket are near none. So few slots that all are taken at times: only then
 * could one be sold twice.
 */
export function joinFleet(options: {
  readonly seed: number;
  readonly recorder: Recorder;
  readonly backends: () => readonly Backend[];
  readonly brake: Brake;
}): Promise<FleetNode[]> {
  const { seed, recorder, backends, brake } = options;
  const hasPython = whyNoPython() === undefined;
  const member = (number: number, kind: string, slots: number) => ({
    name: `node-${kind}-${number}`,
    slots,
    recorder,
    brake,
    owner: TENANTS[(number - 1) % TENANTS.length] as Tenant,
    temper: createTemper(createSeededChance(seedOf(seed, kind.length * 100 + number))),
  });
  return Promise.all([
    ...[1, 2, 3, 4].map((number) => {
      // One of each tenant.
      const isPython = hasPython && number > 2;
      const join = isPython ? joinPythonFleetNode : joinSdkFleetNode;
      return join({
        ...member(number, isPython ? 'python' : 'sdk', 2),
        // One whole node takes single stages, too.
        ...(number === 1 && { stages: STAGES }),
        backends: liveNear(number - 1, backends),
      });
    }),
    ...STAGES_OF.flatMap((kinds, tenant) =>
      kinds.map((stages, at) => {
        const number = at * TENANTS.length + tenant + 1;
        return joinSdkFleetNode({
          ...member(number, 'stage', 2),
          stages,
          backends: liveNear(number, backends),
        });
      }),
    ),
    ...[1, 2].map((number) =>
      joinLegacyFleetNode({ ...member(number, 'legacy', LEGACY_SLOTS), backends: takeTurns(backends) }),
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
