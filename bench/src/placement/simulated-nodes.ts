/** How long the nodes of a fleet take on virtual time, and the speeds that an oracle would know. */
import type { VirtualTime } from '../../../packages/scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../packages/scheduler/dist/ports/chance.js';
import type { KindOfWork, NodeSpeeds } from '../../../packages/scheduler/dist/runtime/select/node-speeds.js';
import type { PlacementFleet } from './read-fleet.ts';

/** What a mean utterance takes alone on a node of slowness 1. */
export const BASE_MS = 600;
/** A node whose slots are all taken takes this much longer for each job. */
const CROWDING = 0.5;
/** Of the logarithm of each time. */
const NOISE = 0.1;

export interface SimulatedNodes {
  /** Takes a slot and returns how long the job will take. */
  begin(node: number, work: number): number;
  end(node: number): void;
  /** As a policy would see them that knows everything. */
  readonly truth: NodeSpeeds;
}

/** Jobs per millisecond that the fleet serves with all slots taken. */
export const capacityOf = ({ slots, slowness }: PlacementFleet): number =>
  slowness.reduce((sum, slow) => sum + slots / (BASE_MS * slow * (1 + CROWDING)), 0);

export const exponential = (mean: number, chance: Chance): number => -mean * Math.log(1 - chance());

export const normal = (chance: Chance): number =>
  Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());

export function createSimulatedNodes(
  { slots, slowness, disturbance }: PlacementFleet,
  time: VirtualTime,
  chance: Chance,
): SimulatedNodes {
  const used = slowness.map(() => 0);
  const disturbed = slowness.map(() => 1);
  const slow = (node: number): number => (slowness[node] as number) * (disturbed[node] as number);

  function disturb(node: number): void {
    const { everyMs, kinds = [] } = disturbance ?? { everyMs: 0 };
    time.at(time.now() + exponential(everyMs, chance), () => {
      const kind = chosen(kinds, chance());
      if (kind === undefined) return;
      disturbed[node] = kind.slowness;
      time.at(time.now() + exponential(kind.lastsMs, chance), () => {
        disturbed[node] = 1;
        disturb(node);
      });
    });
  }
  if (disturbance !== undefined) for (const node of slowness.keys()) disturb(node);

  const known: KindOfWork = {
    paces: new Float64Array(slowness.length),
    learntAt: new Float64Array(slowness.length).fill(Number.POSITIVE_INFINITY),
    owners: slowness.map((_, node) => nodeName(node)),
    mean: 1,
  };
  return {
    begin(node, work) {
      const taken = (used[node] as number) + 1;
      used[node] = taken;
      const crowded = slots > 1 ? 1 + (CROWDING * (taken - 1)) / (slots - 1) : 1;
      return BASE_MS * work * slow(node) * crowded * Math.exp(NOISE * normal(chance));
    },
    end(node) {
      used[node] = (used[node] as number) - 1;
    },
    truth: {
      kind() {
        for (const node of slowness.keys()) known.paces[node] = slow(node);
        return known;
      },
      finished() {},
      gaveUp() {},
      heard() {},
    },
  };
}

function chosen<T extends { readonly share: number }>(kinds: readonly T[], draw: number): T | undefined {
  let left = draw;
  for (const kind of kinds) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  return kinds[0];
}

export const nodeName = (node: number): string => `node-${node}`;
