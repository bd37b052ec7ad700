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

const WORDS = ['ready', 'degraded', 'draining', 'offline'] as const;
const reported = fc.option(fc.constantFrom(...WORDS), { nil: undefined });
const fault = fc.option(fc.constant('no_service_ready'), { nil: undefined });
const said = fc
  .record({ kind: fc.constantFrom('registration' as const, 'beat' as const), reported, fault })
  .map(
    ({ kind, reported, fault }): HealthInput => ({
      kind,
      ...(reported && { reported }),
      ...(fault && { fault }),
    }),
  );
const anyInput: fc.Arbitrary<HealthInput> = fc.oneof(
  { weight: 4, arbitrary: said },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('scan' as const), silenceMs: fc.constant(45_000) }) },
  fc.constantFrom<HealthInput>(
    { kind: 'loss', reason: 'disconnected' },
    { kind: 'drain' },
    { kind: 'undrain' },
  ),
);

describe('the table of health', () => {
  it('contains every transition of random histories', () => {
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

  it('never makes a node ready that an operator drains', () => {
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

  it('leads from every state back to ready by heartbeats alone', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 40 }), (inputs) => {
        const { state } = play([...inputs, { kind: 'undrain' }]);
        const healthy: HealthInput = { kind: 'beat', reported: 'ready' };
        expect(play(times(RULES.flapMaxChecks, healthy), state).state.health).toBe('ready');
      }),
    );
  });
});

describe('a registering node', () => {
  it('is ready after the configured number of consecutive healthy heartbeats', () => {
    const settings = { ...RULES, checkCount: 3, warmupTimeoutMs: 1_000_000 };
    expect(play([GOOD, GOOD], undefined, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD, BAD, GOOD, GOOD], undefined, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD, GOOD], undefined, settings).reasons).toEqual(['ready: healthy']);
  });

  it('may load its models until the warm-up time ends', () => {
    expect(play(times(4, BAD)).state.health).toBe('registering');
    expect(play(times(5, BAD)).reasons).toEqual(['degraded: warmup_timeout']);
  });

  it('is degraded by a scan when the warm-up takes too long', () => {
    const scan: HealthInput = { kind: 'scan', silenceMs: 1_000_000 };
    expect(stepHealth(newHealth(0), scan, RULES, 60_000).state.health).toBe('registering');
    expect(stepHealth(newHealth(0), scan, RULES, 60_001).changes[0]?.reason).toBe('warmup_timeout');
  });

  it('has the health that it reports', () => {
    const healths = WORDS.map((reported) => play([{ kind: 'registration', reported }]).state.health);
    expect(healths).toEqual(WORDS);
  });

  it('is not ready while it has a fault, even if it reports ready', () => {
    const input: HealthInput = { kind: 'registration', reported: 'ready', fault: 'no_service_ready' };
    expect(play([input]).state.health).toBe('registering');
  });
});

describe('a ready node', () => {
  const ready = play([GOOD]).state;

  it('is degraded by three consecutive unhealthy heartbeats, with their reason', () => {
    expect(play([BAD, BAD], ready).state.health).toBe('ready');
    expect(play([BAD, BAD, BAD], ready).reasons).toEqual(['degraded: no_service_ready']);
  });

  it('is degraded by three unhealthy heartbeats of five', () => {
    expect(play([BAD, GOOD, BAD, GOOD, BAD], ready).state.health).toBe('degraded');
  });

  it('is not degraded by rare unhealthy heartbeats', () => {
    expect(play([BAD, GOOD, GOOD, BAD, GOOD, GOOD, BAD], ready).state.health).toBe('ready');
  });

  it('drains and resumes when it reports so, not without a report', () => {
    const draining = play([{ kind: 'beat', reported: 'draining' }], ready);
    expect(draining.reasons).toEqual(['draining: reported_draining']);
    expect(play([GOOD], draining.state).state.health).toBe('draining');
    expect(play([{ kind: 'beat', reported: 'ready' }], draining.state).state.health).toBe('ready');
  });

  it('is offline without heartbeats, and returns with one heartbeat', () => {
    const scan: HealthInput = { kind: 'scan', silenceMs: 45_000 };
    const at = ready.lastBeatAt;
    expect(stepHealth(ready, scan, RULES, at + 45_000).state.health).toBe('ready');
    const { state, changes } = stepHealth(ready, scan, RULES, at + 45_001);
    expect(changes).toEqual([
      { event: 'expired', from: 'ready', to: 'offline', reason: 'heartbeat_timeout' },
    ]);
    expect(play([GOOD], state).reasons).toEqual(['registering: heartbeat', 'ready: healthy']);
  });

  it('needs new healthy heartbeats after it was offline', () => {
    const settings = { ...RULES, checkCount: 2 };
    const long = play(times(9, GOOD), undefined, settings).state;
    const { state } = stepHealth(
      long,
      { kind: 'loss', reason: 'disconnected' },
      settings,
      long.lastBeatAt + 1,
    );
    expect(play([GOOD], state, settings).state.health).toBe('registering');
    expect(play([GOOD, GOOD], state, settings).state.health).toBe('ready');
  });

  it('is ready at once when an operator ends its drain', () => {
    const { state } = play([{ kind: 'drain' }, GOOD, { kind: 'undrain' }], ready);
    expect(state.health).toBe('ready');
  });
});

describe('health that a node reports in a heartbeat', () => {
  const ready = play([GOOD]).state;
  const saying = (reported: (typeof WORDS)[number]): HealthInput => ({ kind: 'beat', reported });

  it.each([
    ['degraded', 'degraded'],
    ['draining', 'draining'],
    ['offline', 'offline'],
  ] as const)('"%s" takes effect with that heartbeat', (reported, health) => {
    expect(play([saying(reported)], ready).reasons).toEqual([`${health}: reported_${reported}`]);
  });

  it('holds until the node reports another one', () => {
    for (const reported of ['degraded', 'draining', 'offline'] as const) {
      const { state } = play([saying(reported), GOOD, GOOD], ready);
      expect(state.health).not.toBe('ready');
      expect(play([saying('ready')], state).state.health).toBe('ready');
    }
  });

  it('"offline" is shown also for a node that an operator drains, and once', () => {
    const drained = play([{ kind: 'drain' }], ready).state;
    const { state, reasons } = play([saying('offline'), saying('offline'), GOOD], drained);
    expect([state.health, reasons]).toEqual(['offline', ['offline: reported_offline']]);
    expect(play([saying('ready')], state).state.health).toBe('draining');
  });

  it('"degraded" is not damped: the node is ready with the next "ready"', () => {
    const settings = { ...RULES, checkCount: 2 };
    let { state } = play([GOOD, GOOD], undefined, settings);
    for (let round = 0; round < 6; round += 1) {
      const fallen = play([saying('degraded')], state, settings).state;
      expect(fallen.health).toBe('degraded');
      state = play([saying('ready')], fallen, settings).state;
      expect(state.health).toBe('ready');
    }
  });

  it('"ready" does not hide unhealthy heartbeats, which stay damped', () => {
    const faulty: HealthInput = { ...BAD, reported: 'ready' };
    expect(play([faulty, faulty], ready).state.health).toBe('ready');
    expect(play([faulty, faulty, faulty], ready).reasons).toEqual(['degraded: no_service_ready']);
  });

  it('"degraded" outlasts an uncordon, a drain does not', () => {
    expect(play([saying('degraded'), { kind: 'undrain' }], ready).state.health).toBe('degraded');
    expect(play([saying('draining'), { kind: 'undrain' }, GOOD], ready).state.health).toBe('ready');
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

  it('doubles the required healthy heartbeats with each fall, up to the limit', () => {
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

  it('ignores falls before the window', () => {
    const { state } = flap(flap(play([GOOD]).state).state);
    const later = { ...state, lastFlapAt: state.lastBeatAt - RULES.flapWindowMs };
    expect(flap(later).good).toBe(1);
  });

  it('is not reset by a new registration that reports ready', () => {
    const { state } = flap(flap(play([GOOD]).state).state);
    const fallen = play(times(3, BAD), state);
    const back = stepHealth(fallen.state, { kind: 'registration', reported: 'ready' }, RULES, fallen.now);
    expect(back.state.health).toBe('registering');
    expect(checksNeeded(back.state, RULES, fallen.now)).toBe(4);
  });
});
