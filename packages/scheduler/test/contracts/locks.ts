/** Contract of Locks: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Locks } from '../../src/ports/locks.ts';
import { type Closable, edgeOf, fresh, holdsBefore, perTest, type Timed, times } from './harness.ts';

export interface LocksHarness extends Timed, Closable {
  readonly locks: Locks;
  /** Another name space of the same store. */
  readonly others: Locks;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function locksContract(name: string, open: () => Promise<LocksHarness>): void {
  describe(`Locks: ${name}`, () => {
    const start = perTest(open);

    it('gives a name to exactly one of many concurrent callers', async () => {
      const { locks } = await start();
      const task = fresh('task');
      const answers = await Promise.all(times(50, () => locks.take(task, LONG_MS)));
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await locks.take(task, LONG_MS)).toBe(false);
    });

    it('accepts a time with a fraction of a millisecond', async () => {
      const { locks } = await start();
      const task = fresh('task');
      expect(await locks.take(task, 1.1 * LONG_MS + 0.5)).toBe(true);
      expect(await locks.take(task, LONG_MS)).toBe(false);
    });

    it('separates names with any characters', async () => {
      const { locks } = await start();
      const base = fresh('service');
      for (const each of [base, `${base}@1`, `${base}@{2}`, `${base}@ ü:*`, `${base}}{`])
        expect(await locks.take(each, LONG_MS), each).toBe(true);
      expect(await locks.take(`${base}@{2}`, LONG_MS)).toBe(false);
    });

    it('separates name spaces', async () => {
      const { locks, others } = await start();
      const task = fresh('task');
      expect(await locks.take(task, LONG_MS)).toBe(true);
      expect(await others.take(task, LONG_MS)).toBe(true);
      expect(await others.take(task, LONG_MS)).toBe(false);
    });

    it('can be taken again after its time, counted from the take', async () => {
      const { locks, ...timed } = await start();
      const task = fresh('task');
      const begunAt = performance.now();
      expect(await locks.take(task, SHORT_MS)).toBe(true);
      await timed.advance(SHORT_MS / 2);
      await holdsBefore(timed, begunAt, SHORT_MS, async () => {
        expect(await locks.take(task, LONG_MS)).toBe(false);
      });
      await timed.advance(SHORT_MS / 2 + edgeOf(timed));
      expect(await locks.take(task, LONG_MS)).toBe(true);
      expect(await locks.take(task, LONG_MS)).toBe(false);
    });

    it('gives out thousands of names, each once', async () => {
      const { locks } = await start();
      const names = times(2_000, () => fresh('task'));
      expect(new Set(await Promise.all(names.map((each) => locks.take(each, LONG_MS))))).toEqual(
        new Set([true]),
      );
      expect(new Set(await Promise.all(names.map((each) => locks.take(each, LONG_MS))))).toEqual(
        new Set([false]),
      );
    });
  });
}
