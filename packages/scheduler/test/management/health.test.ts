/** Health moves only along its table, and only for a reason. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NODE_NEXT } from '../../src/domain/node.ts';
import {
  checksNeeded,
  type HealthInput,
  type HealthState,
  newHealth,
  stepHealth,
} from '../../src/management/health/health.ts';
import { SETTINGS } from './registry-fixture.ts';

const RULES = SETTINGS.health;
const BEAT_MS = 15_000;
const GOOD: HealthInput = { kind: 'beat' };
const BAD: HealthInput = { kind: 'beat', fault: 'no_service_ready' };
const REGISTRATION: HealthInput = { kind: 'registration' };

/** Plays inputs one interval apart and answers with the last state. */
function play(inputs: readonly HealthInput[], start?: HealthState, settings = RULES) {
  let state = start ?? newHealth(0);
  let now = state.lastBeatAt;
  const reasons: string[] = [];
  for (const input of inputs) {
    now += BEAT_MS;
    const step = stepHealth(state, input, settings, now);
    state = step.state;
    reasons.push(...step.changes.map(({ to, reason }) => `${to}: ${reason}`));
  }
  return { state, reasons, now };
}

const times = (count: number, input: HealthInput) => Array.from({ length: count }, () => input);

const word = fc.option(fc.constantFrom('ready' as const, 'degraded' as const, 'draining' as const), {
  nil: undefined,
});
const fault = fc.option(fc.constant('no_service_ready'), { nil: undefined });
const said = fc
  .record({ kind: fc.constantFrom('registration' as const, 'beat' as const), word, fault })
  .map(({ kind, word, fault }): HealthInput => ({ kind, ...(word && { word }), ...(fault && { fault }) }));
const anyInput: fc.Arbitrary<HealthInput> = fc.oneof(
  { weight: 4, arbitrary: said },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('scan' as const), silenceMs: fc.constant(45_000) }) },
  fc.constantFrom<HealthInput>({ kind: 'loss' }, { kind: 'drain' }, { kind: 'undrain' }),
);

describe('the table of health', () => {
  it('is never left, whatever happens when', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyInput, fc.integer({ min: 0, max: 100_000 })), { maxLength: 60 }),
        (events) => {
          let state = newHealth(0);
          let now = 0;
          for (const [input, passed] of events) {
            now += passed;
            const step = stepHealth(state, input, RULES, now);
            let health = state.health;
            for (const change of step.changes) {
              expect(change.from).toBe(health);
              expect(NODE_NEXT[change.from][change.event]).toBe(change.to);
              expect(change.to).not.toBe(change.from);
              expect(change.reason).not.toBe('');
              health = change.to;
            }
            expect(step.state.health).toBe(health);
            state = step.state;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps a node that an operator drains from ever being ready', () => {
    fc.assert(
      fc.property(
        fc.array(
          anyInput.filter(({ kind }) => kind !== 'undrain'),
          { maxLength: 40 },
        ),
        (inputs) => {
          let { state, now } = play([REGISTRATION, GOOD, { kind: 'drain' }]);
          for (const input of inputs) {
            now += 1_000;
            state = stepHealth(state, input, RULES, now).state;
            expect(['draining', 'offline']).toContain(state.health);
          }
        },
      ),
    );
  });

  it('has a way back from every state by heartbeats alone', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 40 }), (inputs) => {
        const { state } = play([...inputs, { kind: 'undrain' }]);
        const healthy: HealthInput = { kind: 'beat', word: 'ready' };
        expect(play(times(RULES.flapMaxChecks, healthy), state).state.health).toBe('ready');
      }),
    );
  });
});

describe('a registering node', () => {
  it('is ready after as many healthy heartbeats in a row as are asked for', () => {
    const settings = { ...RULES, checkCount: 3, warmupTimeoutMs: 1_000_000 };
    expect(play([GOOD, GOOD], undefined, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD, BAD, GOOD, GOOD], undefined, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD, GOOD], undefined, settings).reasons).toEqual(['ready: healthy']);
  });

  it('may load its models in peace, until the warm-up time is over', () => {
    expect(play(times(4, BAD)).state.health).toBe('registering');
    expect(play(times(5, BAD)).reasons).toEqual(['degraded: warmup_timeout']);
  });

  it('is degraded by a scan when it takes too long without a word', () => {
    const scan: HealthInput = { kind: 'scan', silenceMs: 1_000_000 };
    expect(stepHealth(newHealth(0), scan, RULES, 60_000).state.health).toBe('registering');
    expect(stepHealth(newHealth(0), scan, RULES, 60_001).changes[0]?.reason).toBe('warmup_timeout');
  });

  it('is what it says it is', () => {
    const says = (word: 'ready' | 'degraded' | 'draining') =>
      play([{ kind: 'registration', word }]).state.health;
    expect(says('ready')).toBe('ready');
    expect(says('degraded')).toBe('degraded');
    expect(says('draining')).toBe('draining');
  });

  it('is not ready on its word when it has a fault', () => {
    const input: HealthInput = { kind: 'registration', word: 'ready', fault: 'no_service_ready' };
    expect(play([input]).state.health).toBe('registering');
  });
});

describe('a ready node', () => {
  const ready = play([GOOD]).state;

  it('is degraded by three bad heartbeats in a row, with their reason', () => {
    expect(play([BAD, BAD], ready).state.health).toBe('ready');
    expect(play([BAD, BAD, BAD], ready).reasons).toEqual(['degraded: no_service_ready']);
  });

  it('is degraded by three bad heartbeats among five', () => {
    expect(play([BAD, GOOD, BAD, GOOD, BAD], ready).state.health).toBe('degraded');
  });

  it('is not degraded by bad heartbeats further apart', () => {
    expect(play([BAD, GOOD, GOOD, BAD, GOOD, GOOD, BAD], ready).state.health).toBe('ready');
  });

  it('counts its own word "degraded" as a bad heartbeat', () => {
    const word: HealthInput = { kind: 'beat', word: 'degraded' };
    expect(play([word, word], ready).state.health).toBe('ready');
    expect(play([word, word, word], ready).reasons).toEqual(['degraded: reported_degraded']);
  });

  it('drains on its own word and is back on its own word, but not by saying nothing', () => {
    const draining = play([{ kind: 'beat', word: 'draining' }], ready);
    expect(draining.reasons).toEqual(['draining: reported_draining']);
    expect(play([GOOD], draining.state).state.health).toBe('draining');
    expect(play([{ kind: 'beat', word: 'ready' }], draining.state).state.health).toBe('ready');
  });

  it('is offline after silence, and one heartbeat brings it back', () => {
    const scan: HealthInput = { kind: 'scan', silenceMs: 45_000 };
    const at = ready.lastBeatAt;
    expect(stepHealth(ready, scan, RULES, at + 45_000).state.health).toBe('ready');
    const { state, changes } = stepHealth(ready, scan, RULES, at + 45_001);
    expect(changes).toEqual([
      { event: 'expired', from: 'ready', to: 'offline', reason: 'heartbeat_timeout' },
    ]);
    expect(play([GOOD], state).reasons).toEqual(['registering: heartbeat', 'ready: healthy']);
  });

  it('proves itself anew after silence: what it showed before does not count', () => {
    const settings = { ...RULES, checkCount: 2 };
    const long = play(times(9, GOOD), undefined, settings).state;
    const { state } = stepHealth(long, { kind: 'loss' }, settings, long.lastBeatAt + 1);
    expect(play([GOOD], state, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD], state, settings).state.health).toBe('ready');
  });

  it('is ready at once when an operator ends a drain during which it stayed healthy', () => {
    const { state } = play([{ kind: 'drain' }, GOOD, { kind: 'undrain' }], ready);
    expect(state.health).toBe('ready');
  });
});

describe('flap damping', () => {
  /** Down by three bad heartbeats, then up; answers how many good ones it took. */
  function flap(state: HealthState): { state: HealthState; good: number } {
    let fallen = play(times(3, BAD), state).state;
    expect(fallen.health).toBe('degraded');
    for (let good = 1; ; good += 1) {
      fallen = play([GOOD], fallen).state;
      if (fallen.health === 'ready') return { state: fallen, good };
    }
  }

  it('doubles the healthy heartbeats needed with each further fall, up to the limit', () => {
    const settings = RULES;
    let state = play([GOOD]).state;
    const needed: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const flapped = flap(state);
      state = flapped.state;
      needed.push(flapped.good);
    }
    expect(needed).toEqual([1, 2, 4, 8, 8, 8]);
    expect(settings.flapMaxChecks).toBe(8);
  });

  it('forgets falls that lie further back than the window', () => {
    const { state } = flap(flap(play([GOOD]).state).state);
    const later = { ...state, lastFlapAt: state.lastBeatAt - RULES.flapWindowMs };
    expect(flap(later).good).toBe(1);
  });

  it('is not washed off by registering again on one’s own word', () => {
    const { state } = flap(flap(play([GOOD]).state).state);
    const fallen = play(times(3, BAD), state);
    const back = stepHealth(fallen.state, { kind: 'registration', word: 'ready' }, RULES, fallen.now);
    expect(back.state.health).toBe('registering');
    expect(checksNeeded(back.state, RULES, fallen.now)).toBe(4);
  });
});
