/** Simulation: which faults begin, when, and for how long. Depends on the seed only. */
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import type { FaultKind } from '../history.ts';

/** How long a fault lasts, in milliseconds, from and to. */
type Span = readonly [from: number, to: number];

/** Every fault of the simulation, how long it lasts, and how often it is chosen. */
export const FAULTS: Readonly<Partial<Record<FaultKind, { readonly lasts: Span; readonly weight: number }>>> =
  {
    node_killed: { lasts: [200, 6_000], weight: 4 },
    node_cut: { lasts: [0, 0], weight: 4 },
    node_frozen: { lasts: [500, 14_000], weight: 2 },
    node_partitioned: { lasts: [500, 14_000], weight: 2 },
    client_cut: { lasts: [0, 0], weight: 4 },
    client_partitioned: { lasts: [500, 14_000], weight: 2 },
    network_bad: { lasts: [500, 4_000], weight: 2 },
    instance_killed: { lasts: [500, 12_000], weight: 2 },
    instance_frozen: { lasts: [500, 12_000], weight: 2 },
    instance_restarted: { lasts: [1_000, 3_000], weight: 1 },
    instance_cut_off: { lasts: [500, 10_000], weight: 1 },
    store_slow: { lasts: [300, 3_000], weight: 1 },
    slots_moved: { lasts: [300, 2_500], weight: 1 },
    shard_failed_over: { lasts: [500, 3_000], weight: 2 },
    shard_frozen: { lasts: [300, 4_000], weight: 1 },
    shard_lossy: { lasts: [300, 3_000], weight: 2 },
    store_down: { lasts: [500, 5_000], weight: 0.5 },
    store_emptied: { lasts: [0, 0], weight: 0.25 },
  };

/** Faults that a single instance without a store can meet, and that its clients survive. */
export const SINGLE_INSTANCE_FAULTS: readonly FaultKind[] = [
  'node_killed',
  'node_cut',
  'node_frozen',
  'node_partitioned',
  'client_cut',
  'client_partitioned',
  'network_bad',
];

export interface PlannedFault {
  readonly what: FaultKind;
  readonly lastsMs: number;
  /** The target, as a number in [0, 1). */
  readonly target: number;
}

/** Milliseconds between two faults, on average. */
const MEAN_GAP_MS = 700;

/** Faults begin one after the other; several may be under way at once. */
export function createFaultPlan(
  chance: Chance,
  kinds: readonly FaultKind[],
): () => { readonly afterMs: number; readonly fault: PlannedFault } {
  const choices = kinds.flatMap((what) => {
    const entry = FAULTS[what];
    return entry === undefined ? [] : [{ what, ...entry }];
  });
  const total = choices.reduce((sum, { weight }) => sum + weight, 0);

  function choose(): (typeof choices)[number] | undefined {
    let left = chance() * total;
    return choices.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
  }

  return () => {
    const chosen = choose();
    const [from, to] = chosen?.lasts ?? [0, 0];
    return {
      afterMs: -Math.log(1 - chance()) * MEAN_GAP_MS,
      fault: {
        what: chosen?.what ?? 'node_cut',
        lastsMs: from + chance() * (to - from),
        target: chance(),
      },
    };
  };
}
