/** Delays between tries to connect. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKOFF, nextTry, SERVICE_RESTART } from '../../src/client/connection/backoff.ts';

const LOST = { code: 1006, openMs: 0 };
const ALMOST_ONE = 0.999_999;

describe('client back-off', () => {
  it('the first delay is short, then it doubles up to half a minute', () => {
    const delays: number[] = [];
    for (let failures = 0; failures < 9; failures += 1)
      delays.push(nextTry(failures, LOST, ALMOST_ONE).delayMs + 1);
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('the delay is random, from zero to the limit', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }), (failures, chance) => {
        const { delayMs } = nextTry(failures, LOST, chance);
        const { delayMs: most } = nextTry(failures, LOST, ALMOST_ONE);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(most);
        expect(most).toBeLessThanOrEqual(BACKOFF.longestMs);
      }),
    );
    expect(nextTry(5, LOST, 0).delayMs).toBe(0);
  });

  it.each([
    ['a restart of the scheduler', { code: SERVICE_RESTART, openMs: 0 }],
    ['a session that was open for a while', { code: 1006, openMs: BACKOFF.stableAfterMs }],
  ])('delays restart after %s', (_, loss) => {
    expect(nextTry(7, loss, ALMOST_ONE)).toEqual({ delayMs: BACKOFF.quickMs - 1, failures: 1 });
    expect(nextTry(7, { ...loss, code: 1006, openMs: BACKOFF.stableAfterMs - 1 }, 0).failures).toBe(8);
  });
});
