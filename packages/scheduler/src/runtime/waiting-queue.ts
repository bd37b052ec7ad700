/** Hot path: jobs waiting for a slot. Retries go ahead of new work; tenants take turns; a freed slot wakes one that fits. */
import type { NodeId, TenantId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';

export interface Waiter {
  readonly tenantId: TenantId;
  /** Already accepted and tried once: goes first, and is never turned away. */
  readonly isRetry: boolean;
  fits(nodeId: NodeId): boolean;
  /** Somebody could take it right now. */
  hasCandidate(): boolean;
  /** It has left the queue and should try again. */
  wake(): void;
}

export interface WaitingQueue {
  /** `full`: too many are waiting, in all or of this tenant. */
  join(waiter: Waiter): 'joined' | 'full';
  /** Back to the head of its line, after a wake-up that came to nothing. */
  rejoin(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** A slot of this node became free. */
  wake(nodeId: NodeId): void;
  size(): number;
  stop(): void;
}

/** How many waiters one freed slot looks at, so that a long queue of misfits cannot stall the loop. */
const MAX_LOOKS = 256;
const MAX_LOOKS_PER_TENANT = 32;
/** The backstop looks at fewer: each look is a whole selection. */
const MAX_BACKSTOP_LOOKS = 64;

type Lines = Map<TenantId, Set<Waiter>>;

export function createWaitingQueue(deps: {
  clock: Clock;
  maxWaiting: number;
  maxWaitingPerTenant: number;
  /** Wake-ups can be missed between instances; this is how long that may cost. */
  backstopMs: number;
}): WaitingQueue {
  const retries: Lines = new Map();
  const fresh: Lines = new Map();
  let size = 0;
  let cancelBackstop: (() => void) | undefined;
  let isStopped = false;

  const linesOf = (waiter: Waiter): Lines => (waiter.isRetry ? retries : fresh);

  function leave(waiter: Waiter): boolean {
    const lines = linesOf(waiter);
    const line = lines.get(waiter.tenantId);
    if (line?.delete(waiter) !== true) return false;
    if (line.size === 0) lines.delete(waiter.tenantId);
    size -= 1;
    return true;
  }

  /** The first waiter that passes, tenants in turn. The tenant served goes to the back of the round. */
  function take(lines: Lines, looks: number, test: (waiter: Waiter) => boolean): Waiter | undefined {
    let left = looks;
    for (const [tenantId, line] of lines) {
      let leftHere = MAX_LOOKS_PER_TENANT;
      for (const waiter of line) {
        if (left-- <= 0) return undefined;
        if (leftHere-- <= 0) break;
        if (!test(waiter)) continue;
        leave(waiter);
        if (lines.delete(tenantId) && line.size > 0) lines.set(tenantId, line);
        return waiter;
      }
    }
    return undefined;
  }

  function ensureBackstop(): void {
    if (isStopped || size === 0) return;
    cancelBackstop ??= deps.clock.after(deps.backstopMs, () => {
      cancelBackstop = undefined;
      for (const lines of [retries, fresh]) {
        const waiter = take(lines, MAX_BACKSTOP_LOOKS, (candidate) => candidate.hasCandidate());
        waiter?.wake();
      }
      ensureBackstop();
    });
  }

  function enter(waiter: Waiter, isHead: boolean): void {
    const lines = linesOf(waiter);
    const line = lines.get(waiter.tenantId);
    if (line === undefined) lines.set(waiter.tenantId, new Set([waiter]));
    else if (isHead) lines.set(waiter.tenantId, new Set([waiter, ...line]));
    else line.add(waiter);
    size += 1;
    ensureBackstop();
  }

  return {
    join(waiter) {
      const waiting = fresh.get(waiter.tenantId)?.size ?? 0;
      const isFull = size >= deps.maxWaiting || waiting >= deps.maxWaitingPerTenant;
      if (isFull && !waiter.isRetry) return 'full';
      enter(waiter, false);
      return 'joined';
    },
    rejoin: (waiter) => enter(waiter, true),
    leave,
    wake(nodeId) {
      if (size === 0) return;
      const fits = (waiter: Waiter): boolean => waiter.fits(nodeId);
      const waiter = take(retries, MAX_LOOKS, fits) ?? take(fresh, MAX_LOOKS, fits);
      waiter?.wake();
    },
    size: () => size,
    stop() {
      isStopped = true;
      cancelBackstop?.();
    },
  };
}
