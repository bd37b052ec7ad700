import { describe, expect, it } from 'vitest';
import { watchLiveness } from '../../../src/transport/ws/liveness.ts';
import { createSteppedClock } from './stepped-clock.ts';

describe('liveness', () => {
  function watch() {
    const clock = createSteppedClock();
    const state = { bytes: 0, isPaused: false, pings: 0, deaths: 0 };
    const watcher = watchLiveness({
      clock,
      intervalMs: 100,
      bytesRead: () => state.bytes,
      isPaused: () => state.isPaused,
      ping: () => {
        state.pings += 1;
      },
      onDead: () => {
        state.deaths += 1;
      },
    });
    return { clock, state, watcher };
  }

  it.each([0, 1, 49, 50, 51, 99, 100, 101, 149])(
    'a dead peer is noticed within two intervals of its last byte, once (last byte at %i)',
    (lastByteAt) => {
      const { clock, state } = watch();
      clock.advance(lastByteAt);
      state.bytes += 1;
      // An answer to the last ping may be one interval late.
      clock.advance(100);
      expect(state.deaths).toBe(0);
      clock.advance(100);
      expect(state.deaths).toBe(1);
      clock.advance(1_000);
      expect(state.deaths).toBe(1);
    },
  );

  it('a peer that answers each ping as late as it may stays alive', () => {
    const { clock, state } = watch();
    for (let answered = 0; answered < 10; answered += 1) {
      const before = state.pings;
      while (state.pings === before) clock.advance(1);
      clock.advance(99);
      state.bytes += 1;
    }
    expect(state.deaths).toBe(0);
  });

  it('any received byte counts as life, also part of a message', () => {
    const { clock, state } = watch();
    for (let interval = 0; interval < 10; interval += 1) {
      state.bytes += 1;
      clock.advance(100);
    }
    expect(state).toMatchObject({ pings: 10, deaths: 0 });
  });

  it('silence does not count while reading is paused or after stop', () => {
    const { clock, state, watcher } = watch();
    state.isPaused = true;
    clock.advance(1_000);
    expect(state.deaths).toBe(0);
    state.isPaused = false;
    watcher.stop();
    clock.advance(1_000);
    expect(state.deaths).toBe(0);
  });
});
