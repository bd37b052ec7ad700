/**
 * Hot path: the waiters of one class. Tenants are served by deficit round robin, the jobs of a tenant in order of arrival. A tenant
 * gains its quantum when its turn comes and pays 1 per job; a tenant that the freed slot does not fit keeps its turn and credit.
 * Uses no time and no randomness.
 */
import type { TenantId } from '../../domain/ids.ts';
import type { Waiter } from './waiting-queue.ts';

export type WaiterTest = (waiter: Waiter) => boolean;

export interface TenantQueue {
  /** At the end of the queue; a dependant behind the dependants of its tenant. */
  enter(waiter: Waiter): void;
  /** At its previous position, after a wake-up without a slot: its tenant gets the price back. */
  enterAgain(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** Removes and returns the next waiter that passes `test`. Checks at most `maxChecks` waiters. */
  take(maxChecks: number, test: WaiterTest): Waiter | undefined;
  /** The same for one tenant, out of turn; it pays as usual. */
  takeOf(tenantId: TenantId, maxChecks: number, test: WaiterTest): Waiter | undefined;
  waitingOf(tenantId: TenantId): number;
  /** How many waiters of the shape are served before a new one of this tenant. */
  ahead(tenantId: TenantId, shape: unknown): number;
  /** Waiters of one tenant and one shape, oldest first. */
  lines(): Iterable<readonly Waiter[]>;
  tenants(): IterableIterator<TenantId>;
}

interface Turn {
  readonly tenantId: TenantId;
  /** One line per shape, each ordered by ticket. */
  readonly lines: Map<unknown, Waiter[]>;
  size: number;
  credit: number;
}

interface Checks {
  left: number;
  /** The tenant that was checked last has shapes that were not checked. */
  isCutShort: boolean;
}

interface Affordable {
  readonly turn: Turn;
  readonly waiter: Waiter;
}

/** Waiters of one shape differ only in their excluded nodes. */
const MAX_CHECKS_PER_LINE = 8;
/** Share of the checks that one tenant may use before the others: its many shapes must not block them. */
const TENANTS_PER_BACKSTOP = 4;
/** Debt limit of a tenant for jobs out of turn. They took slots that fitted no other tenant, so they must not block it for hours. */
const MAX_DEBT = 1;
/** Tolerance for rounding: ten tenths are slightly less than one. */
const PRICE = 1 - 1e-9;

export function createTenantQueue(deps: {
  quantumOf: (tenantId: TenantId) => number;
  /** The tenant is at its cap, so none of its jobs is woken. */
  isHeld: (tenantId: TenantId) => boolean;
}): TenantQueue {
  /** The tenant whose turn it is comes first. */
  const turns = new Map<TenantId, Turn>();
  /** The order of arrival; also for woken waiters, which may rejoin. */
  const tickets = new WeakMap<Waiter, number>();
  let nextTicket = 0;
  let nextOfDependant = Number.MIN_SAFE_INTEGER;
  const ticketOf = (waiter: Waiter): number => tickets.get(waiter) ?? 0;

  function turnOf(tenantId: TenantId): Turn {
    const known = turns.get(tenantId);
    if (known !== undefined) return known;
    const turn: Turn = { tenantId, lines: new Map(), size: 0, credit: 0 };
    turns.set(tenantId, turn);
    return turn;
  }

  function leave(waiter: Waiter): boolean {
    const turn = turns.get(waiter.tenantId);
    const line = turn?.lines.get(waiter.shape);
    if (turn === undefined || line === undefined) return false;
    const at = placeIn(line, ticketOf(waiter));
    if (line[at] !== waiter) return false;
    line.splice(at, 1);
    turn.size -= 1;
    if (line.length === 0) turn.lines.delete(waiter.shape);
    if (turn.size === 0) turns.delete(turn.tenantId);
    return true;
  }

  /** The position of a ticket in its line, by binary search: thousands may wait. */
  function placeIn(line: readonly Waiter[], ticket: number): number {
    let from = 0;
    let to = line.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (ticketOf(line[middle] as Waiter) < ticket) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  function toBack(turn: Turn): void {
    if (turns.delete(turn.tenantId)) turns.set(turn.tenantId, turn);
  }

  /** The tenant's earliest waiter that passes. `most`: how many checks this tenant may use. */
  function first(turn: Turn, checks: Checks, most: number, test: WaiterTest): Waiter | undefined {
    const enough = checks.left - most;
    let best: Waiter | undefined;
    const seen: unknown[] = [];
    for (const [shape, line] of turn.lines) {
      if (checks.left <= 0 || checks.left <= enough) break;
      seen.push(shape);
      const passing = firstOfLine(line, checks, test);
      if (passing !== undefined && (best === undefined || ticketOf(passing) < ticketOf(best))) best = passing;
    }
    checks.isCutShort = seen.length < turn.lines.size;
    // Next time the other shapes are checked first.
    if (checks.isCutShort) for (const shape of seen) lineToBack(turn, shape);
    return best;
  }

  function firstOfLine(line: readonly Waiter[], checks: Checks, test: WaiterTest): Waiter | undefined {
    let leftHere = MAX_CHECKS_PER_LINE;
    for (const waiter of line) {
      if (checks.left <= 0 || leftHere <= 0) return undefined;
      checks.left -= 1;
      leftHere -= 1;
      if (test(waiter)) return waiter;
    }
    return undefined;
  }

  function lineToBack({ lines }: Turn, shape: unknown): void {
    const line = lines.get(shape);
    if (line !== undefined && lines.delete(shape)) lines.set(shape, line);
  }

  /** Counts as a check: thousands may be held. */
  function heldBack(checks: Checks): undefined {
    checks.left -= 1;
    checks.isCutShort = false;
    return undefined;
  }

  function serve({ turn, waiter }: Affordable): Waiter {
    turn.credit -= 1;
    leave(waiter);
    if (turn.credit < PRICE) toBack(turn);
    return waiter;
  }

  /**
   * Every tenant had its turn and none has enough credit: skip as many turns as needed until one has. The tenants behind it had one
   * turn less, so they come next.
   */
  function passTurns(saving: readonly Affordable[]): Affordable | undefined {
    const turnsToSave = ({ turn }: Affordable): number =>
      Math.ceil((PRICE - turn.credit) / deps.quantumOf(turn.tenantId));
    const count = saving.reduce(
      (least, each) => Math.min(least, turnsToSave(each)),
      Number.POSITIVE_INFINITY,
    );
    const at = saving.findIndex((each) => turnsToSave(each) <= count);
    for (const [index, { turn }] of saving.entries())
      turn.credit += (index <= at ? count : count - 1) * deps.quantumOf(turn.tenantId);
    for (const { turn } of saving.slice(0, at + 1)) toBack(turn);
    return saving[at];
  }

  function lineOf(turn: Turn, { shape }: Waiter): Waiter[] {
    const line = turn.lines.get(shape) ?? [];
    turn.lines.set(shape, line);
    return line;
  }

  return {
    enter(waiter) {
      const turn = turnOf(waiter.tenantId);
      const line = lineOf(turn, waiter);
      const ticket = waiter.isDependant === true ? nextOfDependant++ : nextTicket++;
      tickets.set(waiter, ticket);
      if (waiter.isDependant === true) line.splice(placeIn(line, ticket), 0, waiter);
      else line.push(waiter);
      turn.size += 1;
    },
    enterAgain(waiter) {
      const turn = turnOf(waiter.tenantId);
      const line = lineOf(turn, waiter);
      line.splice(placeIn(line, ticketOf(waiter)), 0, waiter);
      turn.size += 1;
      // Never above the maximum credit: many waiters that rejoin at once are served in turn too.
      turn.credit = Math.min(turn.credit + 1, 1 + deps.quantumOf(waiter.tenantId));
    },
    leave,
    take(maxChecks, test) {
      const checks: Checks = { left: maxChecks, isCutShort: false };
      const mostEach = Math.ceil(maxChecks / TENANTS_PER_BACKSTOP);
      const saving: Affordable[] = [];
      const passed: Turn[] = [];
      const again: Turn[] = [];
      /** The tenant that can be served at once. */
      const look = (turn: Turn): Affordable | undefined => {
        const isHeld = deps.isHeld(turn.tenantId);
        const waiter = isHeld ? heldBack(checks) : first(turn, checks, mostEach, test);
        if (waiter === undefined) {
          (checks.isCutShort ? again : passed).push(turn);
          return undefined;
        }
        if (turn.credit < PRICE) turn.credit += deps.quantumOf(turn.tenantId);
        if (turn.credit >= PRICE) return { turn, waiter };
        saving.push({ turn, waiter });
        return undefined;
      };
      let next: Affordable | undefined;
      for (const turn of turns.values()) {
        if (checks.left <= 0) break;
        next = look(turn);
        if (next !== undefined) break;
      }
      // The remaining checks go to the tenants with unchecked shapes.
      for (const turn of again) {
        if (next !== undefined || saving.length > 0 || checks.left <= 0) break;
        next = look(turn);
      }
      if (next !== undefined) for (const { turn } of saving) toBack(turn);
      else if (saving.length > 0) next = passTurns(saving);
      if (next !== undefined) return serve(next);
      // The limit ended the search: next time the unchecked tenants come first.
      if (checks.left <= 0) for (const turn of [...passed, ...new Set(again)]) toBack(turn);
      return undefined;
    },
    takeOf(tenantId, maxChecks, test) {
      const turn = turns.get(tenantId);
      const waiter = turn && first(turn, { left: maxChecks, isCutShort: false }, maxChecks, test);
      if (turn === undefined || waiter === undefined) return undefined;
      serve({ turn, waiter });
      turn.credit = Math.max(turn.credit, -MAX_DEBT);
      return waiter;
    },
    ahead(tenantId, shape) {
      const own = turns.get(tenantId)?.lines.get(shape)?.length ?? 0;
      const perOwn = (own + 1) / deps.quantumOf(tenantId);
      let count = own;
      for (const turn of turns.values()) {
        if (turn.tenantId === tenantId) continue;
        const others = turn.lines.get(shape)?.length ?? 0;
        if (others > 0) count += Math.min(others, perOwn * deps.quantumOf(turn.tenantId));
      }
      return count;
    },
    waitingOf: (tenantId) => turns.get(tenantId)?.size ?? 0,
    *lines() {
      for (const { lines } of turns.values()) yield* lines.values();
    },
    tenants: () => turns.keys(),
  };
}
