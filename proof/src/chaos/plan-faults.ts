/** Which faults begin when, from a seed. Pure: the same seed and length give the same plan. */
import { createSeededChance } from '../../../packages/scheduler/dist/cli/simulated-node/seeded-chance.js';
import type { RealFaultKind } from '../../../packages/simulation/dist/history.js';

/** Large faults: they take down a whole server, or something that all depend on. One at a time, each with time to heal. */
const GREAT = [
  'instance_killed',
  'instance_frozen',
  'instance_restarted',
  'instance_cut_off',
  'clock_set',
  'master_killed',
  'master_frozen',
  'slots_moved',
  'store_down',
] as const satisfies readonly RealFaultKind[];

/** Small faults: at any time, also during large ones; frequent ones are listed more often. */
const SMALL = [
  'node_killed',
  'node_cut',
  'client_cut',
  'client_cut',
  'network_bad',
  'network_bad',
  'store_cut',
  'store_slow',
] as const satisfies readonly RealFaultKind[];

export const PLANNED = [...new Set([...GREAT, ...SMALL])];
export type PlannedKind = (typeof PLANNED)[number];

export const isGreat = (what: PlannedKind): boolean => (GREAT as readonly PlannedKind[]).includes(what);
/** Faults of parts that only several instances have. */
export const NEEDS_OTHERS: readonly PlannedKind[] = [...GREAT, 'store_cut', 'store_slow'];

export interface PlannedFault {
  readonly atMs: number;
  readonly what: PlannedKind;
  /** Which of the possible targets it hits. */
  readonly pick: number;
  /** How long until it is healed; faults that heal by themselves do not need it. */
  readonly lastsMs: number;
  /** Between 0 and 1: how bad it is, where that can differ. */
  readonly degree: number;
}

/** From, and how much more at most. */
const LASTS: Readonly<Record<PlannedKind, readonly [number, number]>> = {
  instance_killed: [1_000, 4_000],
  instance_frozen: [1_000, 7_000],
  instance_restarted: [0, 0],
  instance_cut_off: [1_000, 7_000],
  clock_set: [0, 0],
  master_killed: [3_000, 1_000],
  master_frozen: [1_500, 4_500],
  slots_moved: [1_000, 0],
  store_down: [2_000, 1_500],
  node_killed: [200, 3_000],
  node_cut: [0, 0],
  client_cut: [0, 0],
  network_bad: [300, 2_000],
  store_cut: [0, 0],
  store_slow: [300, 2_000],
};

/** Between two large faults; a frozen instance counts from its thawing. */
const PAUSE_MS = 2_600;
const FIRST_MS = 2_000;
/** The last part of a run has no faults, so that work can end. */
const LAST_MS = 3_000;

export function planFaults(options: {
  readonly seed: number;
  readonly seconds: number;
  readonly without?: readonly PlannedKind[];
}): PlannedFault[] {
  const { seed, seconds, without = [] } = options;
  const chance = createSeededChance(seed);
  const untilMs = seconds * 1_000 - LAST_MS;
  const planned: PlannedFault[] = [];
  const add = (atMs: number, what: PlannedKind): number => {
    const [least, more] = LASTS[what];
    const lastsMs = Math.round(least + chance() * more);
    const pick = Math.floor(chance() * 1_000);
    planned.push({ atMs: Math.round(atMs), what, pick, lastsMs, degree: chance() });
    return lastsMs;
  };
  const great = GREAT.filter((what) => !without.includes(what));
  let round: PlannedKind[] = [];
  for (let atMs = FIRST_MS; atMs < untilMs && great.length > 0; ) {
    // Every kind occurs once before any occurs again.
    if (round.length === 0) round = shuffle(great, chance);
    atMs += add(atMs, round.pop() as PlannedKind) + PAUSE_MS;
  }
  const small = SMALL.filter((what) => !without.includes(what));
  for (let atMs = 1_000; atMs < untilMs && small.length > 0; atMs += 500 + chance() * 1_500)
    add(atMs, small[Math.floor(chance() * small.length)] as PlannedKind);
  return planned.sort((one, other) => one.atMs - other.atMs);
}

function shuffle<Each>(all: readonly Each[], chance: () => number): Each[] {
  const rest = [...all];
  return all.map(() => rest.splice(Math.floor(chance() * rest.length), 1)[0] as Each);
}
