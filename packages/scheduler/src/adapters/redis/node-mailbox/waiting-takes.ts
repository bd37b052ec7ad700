/** Takes of this instance that wait for something to arrive, by node. A notice wakes one of them, the oldest. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Arrivals } from './arrivals.ts';

/** The takes that wait at one mailbox, as one of them sees them. */
export interface WaitingTakes {
  /** Grows with every notice: whoever found nothing and sees it grown since he asked must ask again. */
  arrivals(): number;
  /** Ends with a notice, when aborted, after `limitMs`, or when it is time to look for oneself. */
  arrival(limitMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** Whoever goes may have been woken for something that he did not take, or not all of: the next one looks. */
  leave(): void;
}

interface Box {
  readonly waiting: Set<() => void>;
  arrivals: number;
  members: number;
  stop: () => void;
}

/** Notices may be lost; this is how late an arrival is noticed then. */
const LOOK_EVERY_MS = 2_000;

export function createWaitingTakes(deps: { clock: Clock; arrivals: Arrivals }) {
  const boxes = new Map<NodeId, Box>();

  function open(nodeId: NodeId): Box {
    const known = boxes.get(nodeId);
    if (known !== undefined) return known;
    const box: Box = { waiting: new Set(), arrivals: 0, members: 0, stop: () => undefined };
    boxes.set(nodeId, box);
    box.stop = deps.arrivals.listen(nodeId, {
      onListening() {
        box.arrivals += 1;
        for (const wake of [...box.waiting]) wake();
      },
      onArrival() {
        box.arrivals += 1;
        wakeOne(box);
      },
    });
    return box;
  }

  function close(nodeId: NodeId, box: Box): void {
    box.members -= 1;
    if (box.members > 0) wakeOne(box);
    else {
      boxes.delete(nodeId);
      box.stop();
    }
  }

  function arrival(box: Box, limitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        box.waiting.delete(wake);
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = deps.clock.after(Math.min(limitMs, LOOK_EVERY_MS), wake);
      box.waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  return {
    join(nodeId: NodeId): WaitingTakes {
      const box = open(nodeId);
      box.members += 1;
      return {
        arrivals: () => box.arrivals,
        arrival: (limitMs, signal) => arrival(box, limitMs, signal),
        leave: () => close(nodeId, box),
      };
    },
  };
}

function wakeOne(box: Box): void {
  const [wake] = box.waiting;
  wake?.();
}
