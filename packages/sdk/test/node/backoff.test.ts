/** Delays of a node between tries to connect. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BACKOFF_LIMITS, nextTry, SERVICE_RESTART } from '../../src/node/connection/backoff.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const code = fc.constantFrom(1000, 1001, 1006, 1009, 1011);
const BAD = { code: 1006, registeredMs: 0 };

it('the delay is random up to a limit that doubles', () => {
  fc.assert(
    fc.property(fc.nat(100_000), chance, code, (failures, luck, why) => {
      const { delayMs } = nextTry(failures, { code: why, registeredMs: 0 }, luck);
      expect(delayMs).toBeGreaterThanOrEqual(0);
      expect(delayMs).toBeLessThan(Math.min(15_000, 250 * 2 ** failures));
      expect(Number.isInteger(delayMs)).toBe(true);
    }),
  );
});

it('the delay grows with each failure', () => {
  fc.assert(
    fc.property(fc.nat(50), chance, (failures, luck) => {
      const next = nextTry(failures, BAD, luck);
      expect(next.failures).toBe(failures + 1);
      expect(nextTry(next.failures, BAD, luck).delayMs).toBeGreaterThanOrEqual(next.delayMs);
    }),
  );
});

it('delays restart after a scheduler restart or a stable connection', () => {
  fc.assert(
    fc.property(fc.nat(50), chance, fc.nat(10_000), (failures, luck, extraMs) => {
      const restarted = nextTry(failures, { code: SERVICE_RESTART, registeredMs: 0 }, luck);
      const stable = nextTry(
        failures,
        { code: 1006, registeredMs: BACKOFF_LIMITS.stableAfterMs + extraMs },
        luck,
      );
      for (const next of [restarted, stable]) {
        expect(next.delayMs).toBeLessThan(BACKOFF_LIMITS.firstMs);
        expect(next.failures).toBe(1);
      }
    }),
  );
});

it('connections that break right after opening slow the retries down', () => {
  let failures = 0;
  const delays: number[] = [];
  for (let losses = 0; losses < 8; losses += 1) {
    const next = nextTry(failures, { code: 1006, registeredMs: 10 }, 0.999_999);
    failures = next.failures;
    delays.push(next.delayMs + 1);
  }
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
});
