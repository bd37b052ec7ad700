/** Waiting and repeating on a manual clock. */
import { describe, expect, it } from 'vitest';
import { retry } from '../../src/domain/retry.ts';
import { withTimeout } from '../../src/domain/with-timeout.ts';
import { createManualClock } from '../support/manual-clock.ts';

const failing = (times: number) => {
  let calls = 0;
  return {
    calls: () => calls,
    call: async () => {
      calls += 1;
      if (calls <= times) throw new Error(`try ${calls}`);
      return 'done';
    },
  };
};

describe('retry', () => {
  it('repeats a failed call after the delay until it succeeds', async () => {
    const clock = createManualClock();
    const { call, calls } = failing(2);
    const result = retry(clock, { delayMs: 250 }, call);
    await clock.advance(249);
    expect(calls()).toBe(1);
    await clock.advance(300);
    expect(await result).toBe('done');
    expect(calls()).toBe(3);
  });

  it('throws the last failure after the last try', async () => {
    const clock = createManualClock();
    const failed: number[] = [];
    const result = retry(
      clock,
      { delayMs: 1, maxTries: 2, onFailed: (_, tries) => failed.push(tries) },
      failing(9).call,
    );
    const outcome = expect(result).rejects.toThrow('try 2');
    await clock.advance(10);
    await outcome;
    expect(failed).toEqual([1, 2]);
  });

  it('stops without a result when the call is no longer wanted', async () => {
    const clock = createManualClock();
    const { call, calls } = failing(9);
    const result = retry(clock, { delayMs: 1, isWanted: () => false }, call);
    await clock.advance(1);
    expect(await result).toBeUndefined();
    expect(calls()).toBe(1);
  });
});

describe('withTimeout', () => {
  it('rejects with a dependency error at the limit and names the call', async () => {
    const clock = createManualClock();
    const outcome = expect(
      withTimeout(clock, 100, 'a reserve', () => new Promise(() => undefined)),
    ).rejects.toThrow('no answer within 100 ms: a reserve');
    await clock.advance(100);
    await outcome;
  });

  it('returns an answer in time and drops its timer', async () => {
    const clock = createManualClock();
    expect(await withTimeout(clock, 100, 'a reserve', async () => 7)).toBe(7);
    await clock.advance(0);
    expect(clock.pending()).toBe(0);
  });
});
