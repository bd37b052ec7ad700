/**
 * Takes of this instance that wait for something to arrive, by node. A notice wakes one of them, the oldest.
 *
 * Whoever polls comes back: his mailbox is listened to for a while after he has left, and what is known to be empty he need not look
 * into. Notices may be lost, so that is known for a moment only.
 */
import type { NodeId } from '../../../domain/ids.ts';
import type { Cancel, Clock } from '../../../ports/clock.ts';
import type { Arrivals } from './arrivals.ts';

/** The takes that wait at one mailbox, as one of them sees them. */
export interface WaitingTakes {
  /** A look that was sent a moment ago left nothing there, and nothing has come since. */
  isEmpty(): boolean;
  /** Grows with every notice: whoever found nothing and sees it grown since he asked must ask again. */
  arrivals(): number;
  /** Ends with a notice, when aborted, after `limitMs`, or when it is time to look for oneself. */
  arrival(limitMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** Whoever goes may have been woken for something that he did not take, or not all of: the next one looks. */
  leave(): void;
}

/** What came of a look. `isEmptied`: it left nothing there. */
export interface Looked {
  readonly isFound: boolean;
  readonly isEmptied: boolean;
}

interface Box {
  readonly waiting: Set<() => void>;
  arrivals: number;
  members: number;
  /** `asked`: what comes now may be missed. `deaf`: it could not be listened to; whoever joins tries again. */
  hearing: 'asked' | 'confirmed' | 'deaf';
  /** The last look that left nothing: when it was sent, and how many notices had come by then. */
  emptied: { readonly at: number; readonly arrivals: number } | undefined;
  stop: () => void;
}

/** Notices may be lost; this is how late an arrival is noticed then. */
export const LOOK_EVERY_MS = 2_000;
/** Longer than a node that polls is away with a job, usually. */
export const LINGER_MS = 60_000;
/** Mailboxes that are listened to though nobody waits; the one that was left first is given up first. */
export const MOST_LINGERING = 10_000;

export function createWaitingTakes(deps: { clock: Clock; arrivals: Arrivals }) {
  const { clock } = deps;
  const boxes = new Map<NodeId, Box>();
  /** Those nobody waits at, and since when: in that order. */
  const left = new Map<NodeId, number>();
  let sweeping: Cancel | undefined;

  function open(nodeId: NodeId): Box {
    const box = boxes.get(nodeId) ?? {
      waiting: new Set(),
      arrivals: 0,
      members: 0,
      hearing: 'deaf',
      emptied: undefined,
      stop: () => undefined,
    };
    boxes.set(nodeId, box);
    left.delete(nodeId);
    if (box.hearing === 'deaf') listen(nodeId, box);
    return box;
  }

  function listen(nodeId: NodeId, box: Box): void {
    box.hearing = 'asked';
    box.stop = deps.arrivals.listen(nodeId, {
      onListening() {
        box.hearing = 'confirmed';
        box.arrivals += 1;
        for (const wake of [...box.waiting]) wake();
      },
      onDeaf() {
        box.hearing = 'deaf';
      },
      onArrival() {
        box.arrivals += 1;
        wakeOne(box);
      },
    });
  }

  function leave(nodeId: NodeId, box: Box): void {
    box.members -= 1;
    if (box.members > 0) {
      wakeOne(box);
      return;
    }
    left.set(nodeId, clock.now());
    const [first] = left.keys();
    if (left.size > MOST_LINGERING && first !== undefined) end(first);
    sweepLater();
  }

  function end(nodeId: NodeId): void {
    boxes.get(nodeId)?.stop();
    boxes.delete(nodeId);
    left.delete(nodeId);
  }

  function sweepLater(): void {
    const [since] = left.values();
    if (since === undefined || sweeping !== undefined) return;
    sweeping = clock.after(since + LINGER_MS - clock.now(), () => {
      sweeping = undefined;
      const now = clock.now();
      for (const [nodeId, leftAt] of left) {
        if (leftAt + LINGER_MS > now) break;
        end(nodeId);
      }
      sweepLater();
    });
  }

  /** How much longer nobody need look; 0: it has to be looked. */
  function emptyForMs({ hearing, emptied, arrivals }: Box): number {
    if (hearing !== 'confirmed' || emptied?.arrivals !== arrivals) return 0;
    return Math.max(0, emptied.at + LOOK_EVERY_MS - clock.now());
  }

  function arrival(box: Box, limitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        box.waiting.delete(wake);
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = clock.after(Math.min(limitMs, emptyForMs(box) || LOOK_EVERY_MS), wake);
      box.waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  return {
    join(nodeId: NodeId): WaitingTakes {
      const box = open(nodeId);
      box.members += 1;
      return {
        isEmpty: () => emptyForMs(box) > 0,
        arrivals: () => box.arrivals,
        arrival: (limitMs, signal) => arrival(box, limitMs, signal),
        leave: () => leave(nodeId, box),
      };
    },

    /** To be called when a look is sent; what it answers, when that has come back. What arrives in between is not known to be gone. */
    looking(nodeId: NodeId): (looked: Looked) => void {
      const box = boxes.get(nodeId);
      if (box === undefined) return () => undefined;
      const { arrivals } = box;
      const at = clock.now();
      const seemedEmpty = box.hearing === 'confirmed' && box.emptied?.arrivals === arrivals;
      return ({ isFound, isEmptied }) => {
        if (!isEmptied) box.emptied = undefined;
        else if (box.emptied === undefined || box.emptied.at <= at) box.emptied = { at, arrivals };
        // Nobody told that it came: a server that gave the mailbox to another does not tell any more.
        const isUntold = seemedEmpty && isFound && box.arrivals === arrivals;
        if (isUntold && box.hearing === 'confirmed' && boxes.get(nodeId) === box) listen(nodeId, box);
      };
    },

    /** The node is gone. Whoever waits for it nevertheless goes on waiting. */
    forget(nodeId: NodeId): void {
      if (left.has(nodeId)) end(nodeId);
    },

    /** Mailboxes that are listened to. */
    size: () => boxes.size,
  };
}

function wakeOne(box: Box): void {
  const [wake] = box.waiting;
  wake?.();
}
