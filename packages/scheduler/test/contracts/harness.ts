/** Shared by the contract suites: a harness per test, unique ids, and waiting that works on any store. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach } from 'vitest';

/**
 * Time of a suite. After `advance(ms)` at least `ms` have passed on the store's own clock, and everything that became
 * due has run.
 */
export interface Timed {
  advance(ms: number): Promise<void>;
  /**
   * How close to a time `advance` can stop. 1: time does not pass between calls of `advance`. Absent: the store waits
   * in real time.
   */
  readonly edgeMs?: number;
}

export interface Closable {
  close(): Promise<void>;
}

const REAL_EDGE_MS = 200;

export const edgeOf = (timed: Timed): number => timed.edgeMs ?? REAL_EDGE_MS;

export const isStepped = (timed: Timed): boolean => timed.edgeMs === 1;

/** Many suites may share one store, so no two tests may use the same id. */
export const fresh = (kind: string): string => `${kind}-${randomUUID()}`;

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Opens a harness for the running test and closes it when that test ends. */
export function perTest<A extends unknown[], H extends Closable>(
  open: (...args: A) => Promise<H>,
): (...args: A) => Promise<H> {
  const opened: H[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((harness) => harness.close()));
  });
  return async (...args) => {
    const harness = await open(...args);
    opened.push(harness);
    return harness;
  };
}

/**
 * Checks what must hold before `limitMs` have passed since `begunAt` (a reading of `performance.now()`). In real time a
 * slow machine may check too late; the result then proves nothing, so `check` must change nothing.
 */
export async function holdsBefore(
  timed: Timed,
  begunAt: number,
  limitMs: number,
  check: () => Promise<void>,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (isStepped(timed) || performance.now() - begunAt < limitMs) throw error;
  }
}

/** Only a hang takes longer. */
const LIMIT_MS = 60_000;

/** For what a store may do later, such as cleaning up. */
export async function eventually(timed: Timed, check: () => Promise<void>): Promise<void> {
  const until = performance.now() + LIMIT_MS;
  for (let step = 0; isStepped(timed) ? step < 20 : performance.now() < until; step += 1) {
    try {
      return await check();
    } catch {
      await timed.advance(10);
    }
  }
  await check();
}

/** Whether a promise is still open after everything that could run at once has run. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  const close = () => {
    isOpen = false;
  };
  promise.then(close, close);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  return isOpen;
}
