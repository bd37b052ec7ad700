/**
 * Cold path: keeps jobs away from nodes that fail them. Pure. A node that fails fast is always the least loaded, so it would get even more.
 */

export interface EjectionSettings {
  readonly windowMs: number;
  readonly minSamples: number;
  readonly failurePercent: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly maxEjectedPercent: number;
  /** After this time without an outcome of the probe another job may be sent. */
  readonly probeTimeoutMs: number;
}

/**
 * `trusted`: gets jobs. `ejected`: gets none until `until`. `probation`: the next job is a probe. `probing`: the probe is in progress, and
 * the node gets no other job.
 */
export type EjectionPhase = 'trusted' | 'ejected' | 'probation' | 'probing';

export interface EjectionState {
  readonly phase: EjectionPhase;
  readonly until: number;
  /** Ejections since the node was last trusted for a long time. */
  readonly ejections: number;
  /** Outcomes of the current and the previous half of the window: the window slides without a list. */
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

/** Ejected or on probation: counts towards the share of the fleet that may be ejected. */
export const isSuspect = ({ phase }: EjectionState): boolean => phase !== 'trusted';

/** If too many nodes fail, the cause is probably elsewhere, and ejecting all of them would leave none for the jobs. */
export const mayEject = (othersEjected: number, nodes: number, settings: EjectionSettings): boolean =>
  (othersEjected + 1) * 100 <= nodes * settings.maxEjectedPercent;

/** `othersMayLeave`: the share of ejected nodes stays within the limit with this node. */
export function afterOutcome(
  state: EjectionState,
  hasFailed: boolean,
  othersMayLeave: boolean,
  settings: EjectionSettings,
  now: number,
): EjectionState {
  switch (state.phase) {
    case 'ejected':
      return state; // a job from before the ejection: it is already counted
    case 'probation':
    case 'probing':
      return hasFailed && othersMayLeave ? eject(state, settings, now) : forgive(state, now);
    case 'trusted': {
      const counted = countOutcome(state, hasFailed, settings, now);
      return isBad(counted, settings) && othersMayLeave ? eject(counted, settings, now) : counted;
    }
  }
}

/** A job was placed on the node: if it is a probe, no second one follows before its outcome. */
export const afterPlacement = (
  state: EjectionState,
  settings: EjectionSettings,
  now: number,
): EjectionState =>
  state.phase === 'probation' ? { ...state, phase: 'probing', until: now + settings.probeTimeoutMs } : state;

/** A probe ended without saying anything about the node: the next job may be a probe. */
export const afterNothing = (state: EjectionState): EjectionState =>
  state.phase === 'probing' ? { ...state, phase: 'probation' } : state;

/** Ends an ejection; allows another probe if the outcome of the last one is missing. */
export const afterTime = (state: EjectionState, now: number): EjectionState =>
  isShutOut(state) && now >= state.until ? { ...state, phase: 'probation' } : state;

/** Trusted again, with empty counters. Only the number of ejections is kept, so that the next one lasts longer. */
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
  // All fields are written out: this runs at the end of every job, and an object spread takes several times as long.
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
