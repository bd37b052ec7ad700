/** When a node sends its heartbeats. */
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createHeartbeat, nextBeatMs } from '../../src/node/heartbeat.ts';

it('each heartbeat is up to 20 % earlier or later than the interval', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(chance, (luck) => {
      const delayMs = nextBeatMs(15_000, luck);
      expect(delayMs).toBeGreaterThanOrEqual(12_000);
      expect(delayMs).toBeLessThanOrEqual(18_000);
    }),
  );
  expect([0, 0.5, 1].map((luck) => Math.round(nextBeatMs(15_000, luck)))).toEqual([12_000, 15_000, 18_000]);
});

it('every heartbeat of a running node has its own jitter', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [beats, lucks] = [[] as number[], [0, 1, 0.5]];
  const begunAt = Date.now();
  const heartbeat = createHeartbeat({
    send: () => beats.push(Date.now() - begunAt),
    chance: () => lucks.shift() ?? 0.5,
  });
  heartbeat.start(1_000);
  vi.advanceTimersByTime(3_000);
  heartbeat.stop();
  expect(beats).toEqual([0, 800, 2_000, 3_000]);
});
