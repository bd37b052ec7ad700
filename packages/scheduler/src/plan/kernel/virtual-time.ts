/**
 * Simulation: time that passes only when something is due. Everything that one event promises is settled before the next one
 * happens, and what is due at the same time happens in the order in which it was planned: the same plan gives the same run.
 */
import type { Cancel } from '../../ports/clock.ts';

export interface VirtualTime {
  /** Milliseconds since the run began, with their fraction. */
  now(): number;
  /** Never inside `at` itself. What lies in the past happens now. */
  at(when: number, run: () => void): Cancel;
  /** Resolves when that moment has come, or when nothing is planned any more. Rejects with what an event throws. */
  runUntil(moment: number): Promise<void>;
  /** Events so far, to see how much work a run was. */
  readonly events: number;
}

interface Planned {
  readonly when: number;
  readonly order: number;
  run: (() => void) | undefined;
  /** What is planned for later than this, and comes among the others when its time is near. */
  readonly later: Planned[] | undefined;
}

/** Now and then the real event loop has its turn, so that a person can stop the run. */
const EVENTS_PER_TURN = 16_384;
/**
 * What lies further ahead is not sorted yet. Most of that are limits of waits that end well before: they are cancelled, and never
 * have to be.
 */
const NEAR_MS = 32;
/** Before everything at its moment. */
const FIRST = -1;

export function createVirtualTime(): VirtualTime {
  const heap: Planned[] = [];
  /** By the number of the span in which it begins. */
  const later = new Map<number, Planned[]>();
  const settled = Promise.resolve();
  let current = 0;
  let planned = 0;

  function plan(entry: Planned): void {
    if (entry.when - current < NEAR_MS || entry.when === Number.POSITIVE_INFINITY) {
      rise(heap, entry);
      return;
    }
    const span = Math.floor(entry.when / NEAR_MS);
    const others = later.get(span);
    if (others !== undefined) {
      others.push(entry);
      return;
    }
    const opened = [entry];
    later.set(span, opened);
    rise(heap, { when: span * NEAR_MS, order: FIRST, run: undefined, later: opened });
  }

  function drop(): void {
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) sink(heap, last);
  }

  /** The next timer that was not cancelled, if it is due by then. */
  function next(moment: number): (() => void) | undefined {
    for (let first = heap[0]; first !== undefined && first.when <= moment; first = heap[0]) {
      drop();
      if (first.later !== undefined) {
        later.delete(Math.floor(first.when / NEAR_MS));
        for (const entry of first.later) if (entry.run !== undefined) rise(heap, entry);
      }
      if (first.run === undefined) continue;
      current = first.when;
      return first.run;
    }
    return undefined;
  }

  const time = {
    events: 0,
    now: () => current,
    at(when: number, run: () => void): Cancel {
      const entry: Planned = { when: Math.max(when, current), order: planned++, run, later: undefined };
      plan(entry);
      return () => {
        entry.run = undefined;
      };
    },
    runUntil(moment: number): Promise<void> {
      return new Promise((resolve, reject) => {
        // A tick asked for by a microtask begins when no microtask is left: every promise of an event is kept before the next.
        const again = (): void => process.nextTick(step);
        function step(): void {
          const run = next(moment);
          if (run === undefined) {
            if (Number.isFinite(moment)) current = Math.max(current, moment);
            resolve();
            return;
          }
          time.events += 1;
          try {
            run();
          } catch (fault) {
            reject(fault);
            return;
          }
          if (time.events % EVENTS_PER_TURN === 0) setImmediate(step);
          // Not queueMicrotask, which makes a resource of every one of them.
          else void settled.then(again);
        }
        setImmediate(step);
      });
    },
  };
  return time;
}

const isBefore = (one: Planned, other: Planned): boolean =>
  one.when < other.when || (one.when === other.when && one.order < other.order);

/** Adds an entry at the end and lets it rise to its place. */
function rise(heap: Planned[], entry: Planned): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(entry, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

/** Puts an entry in the place of the first and lets it sink to where it belongs. */
function sink(heap: Planned[], entry: Planned): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    let below = heap[child];
    if (below === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, below)) {
      child += 1;
      below = right;
    }
    if (!isBefore(below, entry)) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = entry;
}
