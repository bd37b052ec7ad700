/** Takes of this instance that wait for an entry, by node. The mailbox is subscribed to while a take waits; a notice wakes the oldest take. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Arrivals } from './arrivals.ts';

/** One of the takes that wait at a mailbox. */
export interface WaitingTakes {
  /** Grows with every notice: a take that found nothing must read again if it has grown since the read was sent. */
  arrivals(): number;
  /** Resolves at a notice, when aborted, after `limitMs`, or when the next periodic read is due. */
  arrival(limitMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** A take that leaves may have been woken for an entry that it did not take, so the next one is woken. */
  leave(): void;
}

interface Box {
  readonly waiting: Set<() => void>;
  arrivals: number;
  members: number;
  isSubscribed: boolean;
  stop: () => void;
}

/** Notices may be lost. A waiting take then finds an entry this much later. */
export const LOOK_EVERY_MS = 2_000;

export function createWaitingTakes(deps: { clock: Clock; arrivals: Arrivals }) {
  const { clock } = deps;
  const boxes = new Map<NodeId, Box>();

  function open(nodeId: NodeId): Box {
    const box = boxes.get(nodeId) ?? {
      waiting: new Set(),
      arrivals: 0,
      members: 0,
      isSubscribed: false,
      stop: () => undefined,
    };
    boxes.set(nodeId, box);
    if (!box.isSubscribed) subscribe(nodeId, box);
    return box;
  }

  function subscribe(nodeId: NodeId, box: Box): void {
    box.isSubscribed = true;
    box.stop = deps.arrivals.subscribe(nodeId, {
      onSubscribed() {
        // Earlier notices may have been missed.
        box.arrivals += 1;
        for (const wake of [...box.waiting]) wake();
      },
      onFailed() {
        // The next take that joins subscribes again; until then waiting takes only read periodically.
        box.isSubscribed = false;
      },
      onArrival() {
        box.arrivals += 1;
        wakeOne(box);
      },
    });
  }

  function arrival(box: Box, limitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        box.waiting.delete(wake);
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = clock.after(Math.min(limitMs, LOOK_EVERY_MS), wake);
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
        leave() {
          box.members -= 1;
          if (box.members > 0) return wakeOne(box);
          boxes.delete(nodeId);
          box.stop();
        },
      };
    },
  };
}

function wakeOne(box: Box): void {
  const [wake] = box.waiting;
  wake?.();
}
