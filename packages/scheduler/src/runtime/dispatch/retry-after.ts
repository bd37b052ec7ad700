/** Failure path: when a refused request may succeed, from the cause of the refusal. */
import { type Need, stageOf } from '../../domain/need.ts';
import type { NodeView } from '../../domain/node.ts';
import type { Engine } from '../engine.ts';
import { factKey } from '../fleet/fact-key.ts';
import { markKeys } from '../select/clauses.ts';
import type { Refusal } from './refusal.ts';

/** How long finished jobs occupied their slot. */
export interface SlotTimes {
  note(ms: number): void;
  /** Undefined: no job has finished yet. */
  meanMs(): number | undefined;
}

/** The weight of the last job in the running mean: about the last twenty count. */
const WEIGHT = 0.1;

export function createSlotTimes(): SlotTimes {
  let mean: number | undefined;
  return {
    note(ms) {
      // A job that was sent by another machine has times of that clock.
      if (ms >= 0) mean = mean === undefined ? ms : mean + WEIGHT * (ms - mean);
    },
    meanMs: () => mean,
  };
}

/** A caller that comes back sooner only adds load. */
const MIN_MS = 100;

/** `null`: a retry alone does not help. Undefined: not known, so the caller gets the default. */
export function retryAfterMs(
  engine: Pick<Engine, 'clock' | 'fleet' | 'queue' | 'slotTimes'>,
  { cause, reasons, mainReason, isWaitUseful }: Refusal,
  need: Need,
): number | null | undefined {
  if (!isWaitUseful) return null;
  // Only an operator can end a cordon; nodes that are not ready for another reason may become ready.
  const areAllCordoned = reasons.every(({ reason }) => reason === 'cordoned' || stageOf(reason) !== 'ready');
  if (mainReason === 'cordoned' && areAllCordoned) return null;
  const nodeIds = cause?.sampleNodeIds ?? [];
  if (mainReason === 'model_not_available') {
    const keys = new Set(markKeys(need));
    const ends = nodeIds.flatMap((nodeId) => marksEndAt(engine.fleet.view(nodeId), keys) ?? []);
    return ends.length === 0 ? undefined : Math.max(MIN_MS, Math.min(...ends) - engine.clock.now());
  }
  const meanMs = engine.slotTimes.meanMs();
  if (mainReason !== 'capacity_exceeded' || cause === undefined || meanMs === undefined) return undefined;
  const slots = nodeIds.reduce((sum, nodeId) => sum + (engine.fleet.load(nodeId)?.max ?? 0), 0);
  const allSlots = Math.max(1, (slots / nodeIds.length) * cause.count);
  // One of the slots becomes free every meanMs / allSlots, and the jobs that wait now come first.
  return Math.max(MIN_MS, Math.round((meanMs / allSlots) * (engine.queue.size() + 1)));
}

/** When the last mark that keeps the job away ends; undefined: no mark does. */
function marksEndAt(view: NodeView | undefined, keys: ReadonlySet<string>): number | undefined {
  if (view?.marksEndAt === undefined) return undefined;
  const marked = [...view.markedServices.map(factKey.marked), ...view.markedTypes.map(factKey.markedType)];
  const ends = view.marksEndAt.filter((_, at) => keys.has(marked[at] as string));
  return ends.length === 0 ? undefined : Math.max(...ends);
}
