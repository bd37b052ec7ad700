/** Hot path: jobs waiting for a slot. Retries go ahead of new work; tenants take turns; a freed slot wakes one that fits. */
import type { NodeId, TenantId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';

export interface Waiter {
  readonly tenantId: TenantId;
  /** Waiters of one shape want the same of a node: if the first finds nothing, the others seldom do. */
  readonly shape: unknown;
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
  /** A slot of this node became free. False: nobody waits for it. */
  wake(nodeId: NodeId): boolean;
  size(): number;
  stop(): void;
}

/** How many waiters one freed slot looks at, so that a long queue of misfits cannot stall the loop. */
const MAX_LOOKS = 256;
/** Waiters of one shape differ only in the nodes they have been to. */
const MAX_LOOKS_PER_LINE = 8;
/** The backstop looks at fewer: each look is a whole selection. */
const MAX_BACKSTOP_LOOKS = 64;

/** A tenant's waiters, one line per shape. */
type Lines = Map<unknown, Set<Waiter>>;

export function createWaitingQueue(deps: {
  clock: Clock;
  maxWaiting: number;
  maxWaitingPerTenant: number;
  /** Wake-ups can be missed between instances; this is how long that may cost. */
  backstopMs: number;
}): WaitingQueue {
  const retries = new Map<TenantId, Lines>();
  const fresh = new Map<TenantId, Lines>();
  /** In which order they came. */
  const tickets = new Map<Waiter, number>();
  let nextTicket = 0;
  let cancelBackstop: (() => void) | undefined;
  let isStopped = false;

  const tenantsOf = (waiter: Waiter): Map<TenantId, Lines> => (waiter.isRetry ? retries : fresh);

  function leave(waiter: Waiter): boolean {
    const tenants = tenantsOf(waiter);
    const lines = tenants.get(waiter.tenantId);
    const line = lines?.get(waiter.shape);
    if (lines === undefined || line?.delete(waiter) !== true) return false;
    if (line.size === 0) lines.delete(waiter.shape);
    if (lines.size === 0) tenants.delete(waiter.tenantId);
    tickets.delete(waiter);
    return true;
  }

  /** The tenant's waiter that came first among those that pass. */
  function first(
    lines: Lines,
    looks: { left: number },
    test: (waiter: Waiter) => boolean,
  ): Waiter | undefined {
    let best: Waiter | undefined;
    for (const line of lines.values()) {
      let leftHere = MAX_LOOKS_PER_LINE;
      for (const waiter of line) {
        if (looks.left-- <= 0 || leftHere-- <= 0) break;
        if (!test(waiter)) continue;
        if (best === undefined || ticketOf(waiter) < ticketOf(best)) best = waiter;
        break;
      }
    }
    return best;
  }

  const ticketOf = (waiter: Waiter): number => tickets.get(waiter) ?? 0;

  /** Tenants take turns: the one served goes to the back of the round. */
  function take(
    tenants: Map<TenantId, Lines>,
    maxLooks: number,
    test: (waiter: Waiter) => boolean,
  ): Waiter | undefined {
    const looks = { left: maxLooks };
    for (const [tenantId, lines] of tenants) {
      const waiter = first(lines, looks, test);
      if (waiter === undefined) continue;
      leave(waiter);
      if (tenants.delete(tenantId)) tenants.set(tenantId, lines);
      return waiter;
    }
    return undefined;
  }

  function ensureBackstop(): void {
    if (isStopped || tickets.size === 0) return;
    cancelBackstop ??= deps.clock.after(deps.backstopMs, () => {
      cancelBackstop = undefined;
      for (const tenants of [retries, fresh]) {
        const waiter = take(tenants, MAX_BACKSTOP_LOOKS, (candidate) => candidate.hasCandidate());
        waiter?.wake();
      }
      ensureBackstop();
    });
  }

  function enter(waiter: Waiter, isHead: boolean): void {
    const tenants = tenantsOf(waiter);
    const lines: Lines = tenants.get(waiter.tenantId) ?? new Map();
    tenants.set(waiter.tenantId, lines);
    const line = lines.get(waiter.shape) ?? new Set();
    lines.set(waiter.shape, isHead ? new Set([waiter, ...line]) : line.add(waiter));
    // Whoever goes back to the head came before all that wait.
    tickets.set(waiter, isHead ? -1 : nextTicket++);
    ensureBackstop();
  }

  const waitingOf = (tenantId: TenantId): number => {
    let count = 0;
    for (const line of fresh.get(tenantId)?.values() ?? []) count += line.size;
    return count;
  };

  return {
    join(waiter) {
      const isFull =
        tickets.size >= deps.maxWaiting || waitingOf(waiter.tenantId) >= deps.maxWaitingPerTenant;
      if (isFull && !waiter.isRetry) return 'full';
      enter(waiter, false);
      return 'joined';
    },
    rejoin: (waiter) => enter(waiter, true),
    leave,
    wake(nodeId) {
      if (tickets.size === 0) return false;
      const fits = (waiter: Waiter): boolean => waiter.fits(nodeId);
      const waiter = take(retries, MAX_LOOKS, fits) ?? take(fresh, MAX_LOOKS, fits);
      waiter?.wake();
      return waiter !== undefined;
    },
    size: () => tickets.size,
    stop() {
      isStopped = true;
      cancelBackstop?.();
    },
  };
}
