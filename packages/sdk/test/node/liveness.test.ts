/** A node notices that its scheduler is gone although no side closed the connection. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLiveness } from '../../src/node/connection/liveness.ts';

describe('liveness of a node’s connection', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watch() {
    const state = { bytes: 0, pings: 0, deaths: 0 };
    const liveness = createLiveness({
      intervalMs: 100,
      bytesRead: () => state.bytes,
      ping: () => {
        state.pings += 1;
      },
      onDead: () => {
        state.deaths += 1;
        liveness.stop();
      },
    });
    liveness.start();
    return { state, liveness };
  }

  it.each([0, 1, 49, 50, 51, 99, 100, 101, 149])(
    'a dead scheduler is noticed within two intervals of its last byte, once (last byte at %i)',
    (lastByteAt) => {
      const { state } = watch();
      vi.advanceTimersByTime(lastByteAt);
      state.bytes += 1;
      // An answer to the last ping may be one interval late.
      vi.advanceTimersByTime(100);
      expect(state.deaths).toBe(0);
      vi.advanceTimersByTime(100);
      expect(state.deaths).toBe(1);
      vi.advanceTimersByTime(1_000);
      expect(state.deaths).toBe(1);
    },
  );

  it('a scheduler that answers each ping as late as it may stays alive', () => {
    const { state, liveness } = watch();
    for (let answered = 0; answered < 10; answered += 1) {
      const before = state.pings;
      for (let ms = 0; ms < 200 && state.pings === before; ms += 1) vi.advanceTimersByTime(1);
      vi.advanceTimersByTime(99);
      state.bytes += 1;
    }
    expect(state.deaths).toBe(0);
    liveness.stop();
  });
});
