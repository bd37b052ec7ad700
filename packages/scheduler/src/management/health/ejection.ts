/** Cold path: keeps work away from nodes that fail what they are given. Pure. A node that fails fast is always least loaded. */

export interface EjectionSettings {
  readonly windowMs: number;
  readonly minSamples: number;
  readonly failurePercent: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly maxEjectedPercent: number;
  /** How long to wait for the outcome of a probe before another job is let through. */
  readonly probeTimeoutMs: number;
}

/**
 * `trusted`: takes jobs. `ejected`: takes none until `until`. `probation`: the next job is a probe.
 * `probing`: that job is under way, and no other is given.
 */
export type EjectionPhase = 'trusted' | 'ejected' | 'probation' | 'probing';

export interface EjectionState {
  readonly phase: EjectionPhase;
  readonly until: number;
  /** Ejections since the node was last trusted for long. */
  readonly ejections: number;
  /** Outcomes of this half of the window and of the half before: counting slides without a list. */
  readonly halfStartedAt: number;
  readonly successes: number;
  readonly failures: number;
  readonly earlierSuccesses: number;
  readonly earlierFailures: number;
}

export const TRUSTED: EjectionState = {
  phase: 'trusted',
  until: 0,
  ejections: 0,
  halfStartedAt: 0,
  successes: 0,
  failures: 0,
  earlierSuccesses: 0,
  earlierFailures: 0,
};

/** Selection does not see the node. */
export const isShutOut = ({ phase }: EjectionState): boolean => phase === 'ejected' || phase === 'probing';

/** Not (yet) trusted again: counts towards the share of the fleet that may be ejected. */
export const isSuspect = ({ phase }: EjectionState): boolean => phase !== 'trusted';

/** When too many fail, the fault is likely not theirs, and nobody would be left to work. */
export const mayEject = (othersEjected: number, nodes: number, settings: EjectionSettings): boolean =>
  (othersEjected + 1) * 100 <= nodes * settings.maxEjectedPercent;

/** `othersMayLeave`: the rest of the fleet can bear this node's ejection. */
export function afterOutcome(
  state: EjectionState,
  hasFailed: boolean,
  othersMayLeave: boolean,
  settings: EjectionSettings,
  now: number,
): EjectionState {
  switch (state.phase) {
    case 'ejected':
      return state; // a job from before; what it says is known
    case 'probation':
    case 'probing':
      return hasFailed && othersMayLeave ? eject(state, settings, now) : forgive(state, now);
    case 'trusted': {
      const counted = countOutcome(state, hasFailed, settings, now);
      return isBad(counted, settings) && othersMayLeave ? eject(counted, settings, now) : counted;
    }
  }
}

/** A job was placed on the node: if it is a probe, no second one follows until its outcome. */
export const afterPlacement = (
  state: EjectionState,
  settings: EjectionSettings,
  now: number,
): EjectionState =>
  state.phase === 'probation' ? { ...state, phase: 'probing', until: now + settings.probeTimeoutMs } : state;

/** A probe that ended and says nothing of the node: the next job may be one. */
export const afterNothing = (state: EjectionState): EjectionState =>
  state.phase === 'probing' ? { ...state, phase: 'probation' } : state;

/** An ejection ends; a probe whose outcome never came may be repeated. */
export const afterTime = (state: EjectionState, now: number): EjectionState =>
  isShutOut(state) && now >= state.until ? { ...state, phase: 'probation' } : state;

/** Trusted from here on, with a clean slate; only the number of ejections is remembered, so that relapses last longer. */
export const forgive = (state: EjectionState, now: number): EjectionState => ({
  ...TRUSTED,
  ejections: state.ejections,
  until: now,
});

function eject(state: EjectionState, settings: EjectionSettings, now: number): EjectionState {
  const isRelapse = state.ejections > 0 && now - state.until <= settings.maxMs;
  const ejections = isRelapse ? state.ejections + 1 : 1;
  const lengthMs = Math.min(settings.maxMs, settings.baseMs * 2 ** (ejections - 1));
  return { ...TRUSTED, phase: 'ejected', ejections, until: now + lengthMs };
}

function isBad(state: EjectionState, settings: EjectionSettings): boolean {
  const failures = state.failures + state.earlierFailures;
  const samples = failures + state.successes + state.earlierSuccesses;
  return samples >= settings.minSamples && failures * 100 >= samples * settings.failurePercent;
}

function countOutcome(
  state: EjectionState,
  hasFailed: boolean,
  settings: EjectionSettings,
  now: number,
): EjectionState {
  const turned = turnHalf(state, settings.windowMs / 2, now);
  // Spelled out: this happens at the end of every job, and a spread takes several times as long.
  return {
    phase: turned.phase,
    until: turned.until,
    ejections: turned.ejections,
    halfStartedAt: turned.halfStartedAt,
    successes: turned.successes + (hasFailed ? 0 : 1),
    failures: turned.failures + (hasFailed ? 1 : 0),
    earlierSuccesses: turned.earlierSuccesses,
    earlierFailures: turned.earlierFailures,
  };
}

function turnHalf(state: EjectionState, halfMs: number, now: number): EjectionState {
  const age = now - state.halfStartedAt;
  if (age >= 0 && age < halfMs) return state;
  const isNext = age >= 0 && age < 2 * halfMs;
  return {
    ...state,
    halfStartedAt: isNext ? state.halfStartedAt + halfMs : now,
    successes: 0,
    failures: 0,
    earlierSuccesses: isNext ? state.successes : 0,
    earlierFailures: isNext ? state.failures : 0,
  };
}
