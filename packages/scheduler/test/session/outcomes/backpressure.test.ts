import { describe, expect, it } from 'vitest';
import {
  judgePressure,
  type PressureAction,
  type SentPressure,
  type Shares,
} from '../../../src/session/outcomes/backpressure.ts';

const SETTINGS = { slowDownShare: 0.5, pauseShare: 0.8, resumeAfterMs: 2_000 };
const NOW = 1_000_000;

const judge = (shares: Partial<Shares>, sent?: SentPressure, knowsOnlyPause = false) =>
  judgePressure({ session: 0, fleet: 0, ...shares }, sent, NOW, SETTINGS, knowsOnlyPause);

const ago = (ms: number, action: PressureAction): SentPressure => ({ action, at: NOW - ms });

describe('pressure', () => {
  it('below the first share there is no backpressure', () => {
    expect(judge({ session: 0.499, fleet: 0.499 })).toBeUndefined();
  });

  it('the session’s share gives SLOW_DOWN, the fleet’s share BUSY', () => {
    expect(judge({ session: 0.5 })).toBe('SLOW_DOWN');
    expect(judge({ fleet: 0.5 })).toBe('BUSY');
    expect(judge({ session: 0.5, fleet: 0.5 })).toBe('SLOW_DOWN');
  });

  it('either share at the second limit gives PAUSE', () => {
    expect(judge({ session: 0.8 })).toBe('PAUSE');
    expect(judge({ fleet: 0.8 })).toBe('PAUSE');
    expect(judge({ session: 0.6, fleet: 0.799 })).toBe('SLOW_DOWN');
  });

  it('legacy clients get only PAUSE', () => {
    expect(judge({ session: 0.79, fleet: 0.79 }, undefined, true)).toBeUndefined();
    expect(judge({ session: 0.8 }, undefined, true)).toBe('PAUSE');
  });

  it('backpressure is repeated only after the last one expired', () => {
    expect(judge({ session: 0.5 }, ago(1_999, 'SLOW_DOWN'))).toBeUndefined();
    expect(judge({ session: 0.5 }, ago(2_000, 'SLOW_DOWN'))).toBe('SLOW_DOWN');
    expect(judge({ session: 1 }, ago(1_999, 'PAUSE'), true)).toBeUndefined();
    expect(judge({ session: 1 }, ago(2_000, 'PAUSE'), true)).toBe('PAUSE');
  });

  it('a more severe action is sent early, but not within 500 ms', () => {
    expect(judge({ session: 0.9 }, ago(499, 'SLOW_DOWN'))).toBeUndefined();
    expect(judge({ session: 0.9 }, ago(500, 'SLOW_DOWN'))).toBe('PAUSE');
    expect(judge({ session: 0.9 }, ago(500, 'BUSY'))).toBe('PAUSE');
    expect(judge({ fleet: 0.5 }, ago(500, 'SLOW_DOWN'))).toBeUndefined();
    expect(judge({ session: 0.5 }, ago(1_000, 'PAUSE'))).toBeUndefined();
  });

  it('two PAUSEs are at least 500 ms apart', () => {
    const quick = { ...SETTINGS, resumeAfterMs: 100 };
    const again = (ms: number) => judgePressure({ session: 1, fleet: 0 }, ago(ms, 'PAUSE'), NOW, quick, true);
    expect(again(499)).toBeUndefined();
    expect(again(500)).toBe('PAUSE');
  });
});
