/** Cold path: how many nodes a load needs, and which of them could go. Pure; the time is an argument. */
import { slotsFor } from '../../../domain/erlang.ts';
import type { NodeId } from '../../../domain/ids.ts';

export interface FleetLoad {
  readonly nodes: number;
  readonly slots: number;
  readonly used: number;
  readonly waiting: number;
  /** For lack of a slot or of any node, in the last ten minutes. */
  readonly refused: number;
  /** How long a job keeps its slot; absent: none has ended yet. */
  readonly slotMs?: number | undefined;
}

export interface FleetSize {
  readonly slots: number;
  readonly nodes: number;
}

const REFUSALS_MS = 600_000;

/** `usualSlots`: of a node, while there is none. */
export function sizeFor(load: FleetLoad, targetWaitMs: number, usualSlots: number): FleetSize {
  const perNode = load.nodes > 0 ? load.slots / load.nodes : usualSlots;
  const slots = slotsWanted(load, targetWaitMs);
  return { slots, nodes: Math.ceil(slots / Math.max(1, perNode)) };
}

function slotsWanted({ used, waiting, refused, slotMs }: FleetLoad, targetWaitMs: number): number {
  // How long a job takes is not known: a slot for each that is here, and one for those that are gone.
  if (slotMs === undefined) return used + waiting + (refused > 0 ? 1 : 0);
  const lost = (refused / REFUSALS_MS) * slotMs;
  return slotsFor({ used: used + lost, waiting, holdMs: slotMs }, targetWaitMs);
}

/** The largest size of the last minutes: a fleet grows at once and shrinks late, so that it does not swing. */
export interface SizePeaks {
  note(key: string, nodes: number, now: number): number;
}

/** How long a larger size counts. */
export const HOLD_MS = 300_000;
const STEP_MS = 5_000;
/** The fleet and its pools. */
const MOST_KEYS = 2_048;

export function createSizePeaks(): SizePeaks {
  const peaks = new Map<string, { readonly at: number; nodes: number }[]>();
  return {
    note(key, nodes, now) {
      const known = (peaks.get(key) ?? []).filter(({ at }) => now - at < HOLD_MS);
      const last = known.at(-1);
      if (last !== undefined && now - last.at < STEP_MS) last.nodes = Math.max(last.nodes, nodes);
      else known.push({ at: now, nodes });
      peaks.delete(key);
      peaks.set(key, known);
      for (const oldest of peaks.keys()) {
        if (peaks.size <= MOST_KEYS) break;
        peaks.delete(oldest);
      }
      return Math.max(...known.map((each) => each.nodes));
    },
  };
}

export interface DrainCandidate {
  readonly nodeId: NodeId;
  readonly used: number;
  readonly zone?: string | undefined;
}

/** The least used nodes, of these first from the zone that has most of them. */
export function nodesToDrain(
  candidates: readonly DrainCandidate[],
  count: number,
  most: number,
): readonly NodeId[] {
  const left = [...candidates].sort((a, b) => a.used - b.used || (a.nodeId < b.nodeId ? -1 : 1));
  const inZone = new Map<string, number>();
  for (const { zone = '' } of left) inZone.set(zone, (inZone.get(zone) ?? 0) + 1);
  const chosen: NodeId[] = [];
  while (chosen.length < Math.min(count, most) && left.length > 0) {
    const { used: least = 0 } = left[0] ?? {};
    let best = 0;
    for (let at = 1; at < left.length && left[at]?.used === least; at += 1)
      if ((inZone.get(left[at]?.zone ?? '') ?? 0) > (inZone.get(left[best]?.zone ?? '') ?? 0)) best = at;
    const [taken] = left.splice(best, 1) as [DrainCandidate];
    inZone.set(taken.zone ?? '', (inZone.get(taken.zone ?? '') ?? 1) - 1);
    chosen.push(taken.nodeId);
  }
  return chosen;
}
