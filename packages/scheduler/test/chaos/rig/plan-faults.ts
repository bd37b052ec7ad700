/** Which faults come when, from a seed. Pure: the same seed and length give the same plan. */
import { createSeededChance } from '../../../src/cli/simulated-node/seeded-chance.ts';
import type { RealFaultKind } from '../../../src/simulation/history.ts';

export interface PlannedFault {
  readonly atMs: number;
  readonly what: RealFaultKind;
  /** Which of those it can happen to. */
  readonly pick: number;
  /** How long until it is healed; those that heal by themselves do not need it. */
  readonly lastsMs: number;
}

/** What takes a whole server away. One at a time, each with time to heal. */
const GREAT: readonly RealFaultKind[] = [
  'instance_killed',
  'instance_frozen',
  'instance_restarted',
  'master_killed',
  'master_frozen',
  'store_down',
];
const SMALL: readonly RealFaultKind[] = ['node_killed', 'node_cut', 'client_cut', 'client_cut'];

/** From, and how much more at most. */
const LASTS: Readonly<Record<RealFaultKind, readonly [number, number]>> = {
  instance_killed: [1_000, 4_000],
  instance_frozen: [1_000, 7_000],
  instance_restarted: [0, 0],
  master_killed: [3_000, 1_000],
  master_frozen: [1_500, 4_500],
  store_down: [2_000, 1_500],
  node_killed: [200, 3_000],
  node_cut: [0, 0],
  client_cut: [0, 0],
};

/** Between two great faults; a frozen instance counts from its thawing. */
const PAUSE_MS = 2_600;
const FIRST_MS = 2_000;
/** Some things are to end while nothing else breaks. */
const LAST_MS = 3_000;

export function planFaults(options: {
  readonly seed: number;
  readonly seconds: number;
  readonly without?: readonly RealFaultKind[];
}): PlannedFault[] {
  const { seed, seconds, without = [] } = options;
  const chance = createSeededChance(seed);
  const untilMs = seconds * 1_000 - LAST_MS;
  const planned: PlannedFault[] = [];
  const add = (atMs: number, what: RealFaultKind): number => {
    const [least, more] = LASTS[what];
    const lastsMs = Math.round(least + chance() * more);
    planned.push({ atMs: Math.round(atMs), what, pick: Math.floor(chance() * 1_000), lastsMs });
    return lastsMs;
  };
  const great = GREAT.filter((what) => !without.includes(what));
  let round: RealFaultKind[] = [];
  for (let atMs = FIRST_MS; atMs < untilMs && great.length > 0; ) {
    // Every kind comes once before any comes again.
    if (round.length === 0) round = shuffle(great, chance);
    atMs += add(atMs, round.pop() as RealFaultKind) + PAUSE_MS;
  }
  const small = SMALL.filter((what) => !without.includes(what));
  for (let atMs = 1_000; atMs < untilMs && small.length > 0; atMs += 500 + chance() * 1_500)
    add(atMs, small[Math.floor(chance() * small.length)] as RealFaultKind);
  return planned.sort((one, other) => one.atMs - other.atMs);
}

function shuffle<Each>(all: readonly Each[], chance: () => number): Each[] {
  const rest = [...all];
  return all.map(() => rest.splice(Math.floor(chance() * rest.length), 1)[0] as Each);
}
