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

  it('a peer counts as dead after two silent intervals, once', () => {
    const { clock, state } = watch();
    clock.advance(100);
    expect(state).toMatchObject({ pings: 1, deaths: 0 });
    clock.advance(1_000);
    expect(state).toMatchObject({ pings: 1, deaths: 1 });
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
