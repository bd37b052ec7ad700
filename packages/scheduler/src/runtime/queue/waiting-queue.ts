/**
 * Hot path: jobs waiting for a slot, by class, then by deficit round robin over tenants, then by arrival. Retries precede new jobs;
 * a freed slot wakes a job that fits.
 */
import type { NodeId, TenantId } from '../../domain/ids.ts';
import type { NeededDirection } from '../../domain/need.ts';
import { WAITING_CLASSES, type WaitingClass } from '../../domain/tenancy.ts';
import type { Clock } from '../../ports/clock.ts';
import { createTenantQueue, type TenantQueue, type WaiterTest } from './tenant-queue.ts';

export interface Waiter {
  readonly tenantId: TenantId;
  /** Waiters of one shape have the same need: if the first finds no node, the others rarely do. */
  readonly shape: unknown;
  /** `retry`: accepted and tried once, so it is never refused. */
  readonly class: WaitingClass;
  /** It continues an accepted request, so it goes before the new work of its tenant. */
  readonly isDependant?: boolean | undefined;
  /** When it began to wait. */
  readonly since: number;
  /** The first pool that it tries; absent: there are no pools. For operators. */
  readonly poolId?: number | undefined;
  /** For operators. */
  readonly directions: readonly NeededDirection[];
  fits(nodeId: NodeId): boolean;
  /** A node could take the job now. */
  hasCandidate(): boolean;
  /** The waiter has left the queue and should try again. */
  wake(): void;
}

/** `full`: too many waiters in total; `tenant_full`: too many of this tenant. */
export type Joined = 'joined' | 'full' | 'tenant_full';

export interface WaitingQueue {
  join(waiter: Waiter): Joined;
  /** Returns to its position after a wake-up without a slot. */
  rejoin(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** A slot of this node became free. False: no waiter fits. */
  wake(nodeId: NodeId): boolean;
  /** The tenant may have one more job on any node. */
  wakeOf(tenantId: TenantId): void;
  size(): number;
  /** How many waiters of the class and shape come before a new one of this tenant, by its turns. */
  ahead(tenantId: TenantId, of: WaitingClass, shape: unknown): number;
  /** Waiters of one class, tenant and shape, oldest first. For operators. */
  lines(): Iterable<readonly Waiter[]>;
  /** Tenants with waiting new jobs. */
  tenants(): number;
  stop(): void;
}

/** What the queue reads about tenants. */
export interface QueuedTenants {
  /** Above 0 and at most 1. */
  quantumOf(tenantId: TenantId): number;
  maxWaitingOf(tenantId: TenantId): number;
  /** The tenant is at its cap. */
  isHeld(tenantId: TenantId): boolean;
}

/** How many waiters of a class one freed slot checks, so that a long queue cannot block the event loop. */
const MAX_CHECKS = 256;
/** The backstop checks fewer of each class, because each check is a whole selection. It wakes all that have a candidate. */
const MAX_BACKSTOP_CHECKS = 64;

export function createWaitingQueue(deps: {
  clock: Clock;
  maxWaiting: number;
  tenants: QueuedTenants;
  /** Wake-ups can be lost between instances; this limits the delay. */
  backstopMs: number;
}): WaitingQueue {
  const { quantumOf, isHeld } = deps.tenants;
  const queues = new Map<WaitingClass, TenantQueue>();
  for (const each of WAITING_CLASSES) {
    // A retried job already counts as on a node.
    queues.set(each, createTenantQueue({ quantumOf, isHeld: each === 'retry' ? NONE_HELD : isHeld }));
  }
  const fresh = WAITING_CLASSES.filter((each) => each !== 'retry').map(queueOf);
  let size = 0;
  let cancelBackstop: (() => void) | undefined;
  let isStopped = false;

  function queueOf(each: WaitingClass): TenantQueue {
    return queues.get(each) as TenantQueue;
  }

  /** Removes the waiter and wakes it. */
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
      for (const queue of queues.values()) wakeMissed(queue);
      ensureBackstop();
    });
  }

  /** Wakes several waiters: no event reports that a cap grows, as it does when another instance dies. */
  function wakeMissed(queue: TenantQueue): void {
    let left = MAX_BACKSTOP_CHECKS;
    const test: WaiterTest = (waiter) => {
      left -= 1;
      return waiter.hasCandidate();
    };
    while (left > 0 && release(queue.take(left, test))) {}
  }

  const waitingOf = (tenantId: TenantId): number =>
    fresh.reduce((sum, queue) => sum + queue.waitingOf(tenantId), 0);

  return {
    join(waiter) {
      if (waiter.class !== 'retry') {
        if (waitingOf(waiter.tenantId) >= deps.tenants.maxWaitingOf(waiter.tenantId)) return 'tenant_full';
        if (size >= deps.maxWaiting) return 'full';
      }
      queueOf(waiter.class).enter(waiter);
      size += 1;
      ensureBackstop();
      return 'joined';
    },
    rejoin(waiter) {
      queueOf(waiter.class).enterAgain(waiter);
      size += 1;
      ensureBackstop();
    },
    leave(waiter) {
      if (!queueOf(waiter.class).leave(waiter)) return false;
      size -= 1;
      return true;
    },
    wake(nodeId) {
      if (size === 0) return false;
      const fits: WaiterTest = (waiter) => waiter.fits(nodeId);
      for (const queue of queues.values()) if (release(queue.take(MAX_CHECKS, fits))) return true;
      return false;
    },
    wakeOf(tenantId) {
      if (isHeld(tenantId)) return;
      for (const queue of fresh)
        if (release(queue.takeOf(tenantId, MAX_BACKSTOP_CHECKS, hasCandidate))) return;
    },
    size: () => size,
    ahead: (tenantId, of, shape) => queueOf(of).ahead(tenantId, shape),
    *lines() {
      for (const queue of queues.values()) yield* queue.lines();
    },
    tenants: () => new Set(fresh.flatMap((queue) => [...queue.tenants()])).size,
    stop() {
      isStopped = true;
      cancelBackstop?.();
    },
  };
}

const NONE_HELD = () => false;
const hasCandidate: WaiterTest = (waiter) => waiter.hasCandidate();
