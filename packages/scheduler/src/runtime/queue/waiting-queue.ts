/**
 * Hot path: jobs waiting for a slot, by class, then by deficit round robin over tenants, then by arrival. Retries go ahead of new work;
 * a freed slot wakes one that fits.
 */
import type { NodeId, TenantId } from '../../domain/ids.ts';
import { WAITING_CLASSES, type WaitingClass } from '../../domain/priority.ts';
import type { Clock } from '../../ports/clock.ts';
import { createTenantQueue, type TenantQueue, type WaiterTest } from './tenant-queue.ts';

export interface Waiter {
  readonly tenantId: TenantId;
  /** Waiters of one shape want the same of a node: if the first finds nothing, the others seldom do. */
  readonly shape: unknown;
  /** `retry`: already accepted and tried once, and never turned away. */
  readonly class: WaitingClass;
  fits(nodeId: NodeId): boolean;
  /** Somebody could take it right now. */
  hasCandidate(): boolean;
  /** It has left the queue and should try again. */
  wake(): void;
}

/** `full`: too many are waiting in all; `tenant_full`: of this tenant. */
export type Joined = 'joined' | 'full' | 'tenant_full';

export interface WaitingQueue {
  join(waiter: Waiter): Joined;
  /** Back to its place in line, after a wake-up that came to nothing. */
  rejoin(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** A slot of this node became free. False: nobody waits for it. */
  wake(nodeId: NodeId): boolean;
  /** This tenant may have one more job on a node, wherever there is a slot for it. */
  wakeOf(tenantId: TenantId): void;
  size(): number;
  /** Tenants that wait for new work to be taken. */
  tenants(): number;
  stop(): void;
}

/** What the queue must know of tenants. */
export interface QueuedTenants {
  /** Above 0 and at most 1. */
  quantumOf(tenantId: TenantId): number;
  maxWaitingOf(tenantId: TenantId): number;
  /** It may have no more jobs on nodes now. */
  isHeld(tenantId: TenantId): boolean;
}

/** How many waiters of a class one freed slot looks at, so that a long queue of misfits cannot stall the loop. */
const MAX_CHECKS = 256;
/** The backstop looks at fewer of each class: each look is a whole selection. It wakes all of them that found somebody. */
const MAX_BACKSTOP_CHECKS = 64;

export function createWaitingQueue(deps: {
  clock: Clock;
  maxWaiting: number;
  tenants: QueuedTenants;
  /** Wake-ups can be missed between instances; this is how long that may cost. */
  backstopMs: number;
}): WaitingQueue {
  const { quantumOf, isHeld } = deps.tenants;
  const rounds = new Map<WaitingClass, TenantQueue>();
  for (const each of WAITING_CLASSES) {
    // What is retried counts as being on a node already.
    rounds.set(each, createTenantQueue({ quantumOf, isHeld: each === 'retry' ? NONE_HELD : isHeld }));
  }
  const fresh = WAITING_CLASSES.filter((each) => each !== 'retry').map(roundOf);
  let size = 0;
  let cancelBackstop: (() => void) | undefined;
  let isStopped = false;

  function roundOf(each: WaitingClass): TenantQueue {
    return rounds.get(each) as TenantQueue;
  }

  /** Taken out of its round: it is told so. */
  function release(waiter: Waiter | undefined): boolean {
    if (waiter === undefined) return false;
    size -= 1;
    waiter.wake();
    return true;
  }

  function ensureBackstop(): void {
    if (isStopped || size === 0) return;
    cancelBackstop ??= deps.clock.after(deps.backstopMs, () => {
      cancelBackstop = undefined;
      for (const round of rounds.values()) wakeMissed(round);
      ensureBackstop();
    });
  }

  /** Many at once: nobody is woken when a cap grows, as it does for those that stay when an instance dies. */
  function wakeMissed(round: TenantQueue): void {
    let left = MAX_BACKSTOP_CHECKS;
    const test: WaiterTest = (waiter) => {
      left -= 1;
      return waiter.hasCandidate();
    };
    while (left > 0 && release(round.take(left, test))) {}
  }

  const waitingOf = (tenantId: TenantId): number =>
    fresh.reduce((sum, round) => sum + round.waitingOf(tenantId), 0);

  return {
    join(waiter) {
      if (waiter.class !== 'retry') {
        if (waitingOf(waiter.tenantId) >= deps.tenants.maxWaitingOf(waiter.tenantId)) return 'tenant_full';
        if (size >= deps.maxWaiting) return 'full';
      }
      roundOf(waiter.class).enter(waiter);
      size += 1;
      ensureBackstop();
      return 'joined';
    },
    rejoin(waiter) {
      roundOf(waiter.class).enterAgain(waiter);
      size += 1;
      ensureBackstop();
    },
    leave(waiter) {
      if (!roundOf(waiter.class).leave(waiter)) return false;
      size -= 1;
      return true;
    },
    wake(nodeId) {
      if (size === 0) return false;
      const fits: WaiterTest = (waiter) => waiter.fits(nodeId);
      for (const round of rounds.values()) if (release(round.take(MAX_CHECKS, fits))) return true;
      return false;
    },
    wakeOf(tenantId) {
      if (isHeld(tenantId)) return;
      for (const round of fresh)
        if (release(round.takeOf(tenantId, MAX_BACKSTOP_CHECKS, hasCandidate))) return;
    },
    size: () => size,
    tenants: () => new Set(fresh.flatMap((round) => [...round.tenants()])).size,
    stop() {
      isStopped = true;
      cancelBackstop?.();
    },
  };
}

const NONE_HELD = () => false;
const hasCandidate: WaiterTest = (waiter) => waiter.hasCandidate();
