/** Simulation: calls of one instance that wait for a job to arrive in a node's mailbox, by node. A notice wakes the oldest of them. */
import type { NodeId } from '../../../scheduler/dist/domain/ids.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import type { Lines } from './servers/lines.ts';
import { keys, tags } from './servers/tags.ts';

export interface WaitingTake {
  /** Grows with every notice: a caller that found nothing and sees that it has grown since must look again. */
  count(): number;
  /** Ends with a notice, when aborted, after `limitMs`, or when it is time to look without a notice. */
  next(limitMs: number, signal: AbortSignal | undefined): Promise<void>;
  leave(): void;
}

interface Box {
  readonly waiting: Set<() => void>;
  count: number;
  members: number;
  stop: () => void;
}

/** Notices may be lost; then an arrival is noticed this late. */
const LOOK_EVERY_MS = 2_000;

export function createArrivals(deps: { lines: Lines; clock: Clock }) {
  const { lines, clock } = deps;
  const boxes = new Map<NodeId, Box>();

  function open(nodeId: NodeId): Box {
    const known = boxes.get(nodeId);
    if (known !== undefined) return known;
    const box: Box = { waiting: new Set(), count: 0, members: 0, stop: () => undefined };
    boxes.set(nodeId, box);
    lines
      .subscribe(tags.node(nodeId), keys.arrivals(nodeId), () => {
        box.count += 1;
        wakeOne(box);
      })
      .then(
        (stop) => {
          if (boxes.get(nodeId) !== box) return stop();
          box.stop = stop;
          // A notice before the subscription may have been missed.
          box.count += 1;
          for (const wake of [...box.waiting]) wake();
        },
        // Without a subscription, callers find arrivals by looking.
        () => undefined,
      );
    return box;
  }

  return {
    join(nodeId: NodeId): WaitingTake {
      const box = open(nodeId);
      box.members += 1;
      return {
        count: () => box.count,
        next: (limitMs, signal) =>
          new Promise((resolve) => {
            const wake = (): void => {
              box.waiting.delete(wake);
              cancel();
              signal?.removeEventListener('abort', wake);
              resolve();
            };
            const cancel = clock.after(Math.min(limitMs, LOOK_EVERY_MS), wake);
            box.waiting.add(wake);
            signal?.addEventListener('abort', wake, { once: true });
          }),
        leave() {
          box.members -= 1;
          // A caller that ends may have been woken for a job that it did not take.
          if (box.members > 0) wakeOne(box);
          else {
            boxes.delete(nodeId);
            box.stop();
          }
        },
      };
    },
  };
}

function wakeOne(box: Box): void {
  const [wake] = box.waiting;
  wake?.();
}
