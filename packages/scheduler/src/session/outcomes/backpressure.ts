/** Hot path: when a session is told to send less, and how. Pure. */

export type PressureAction = 'SLOW_DOWN' | 'BUSY' | 'PAUSE';

export interface PressureSettings {
  /** Shares of a limit, 0 to 1. */
  readonly slowDownShare: number;
  readonly pauseShare: number;
  readonly resumeAfterMs: number;
}

/** How full everything is that the session's audio goes through, each 0 to 1. */
export interface Shares {
  /** Its own: utterances without outcome, those without a slot, audio held. */
  readonly session: number;
  /** Everybody's: jobs waiting for a slot, audio held. */
  readonly fleet: number;
}

/** What it was told last, and until when that stands. */
export interface SentPressure {
  readonly action: PressureAction;
  readonly at: number;
}

const SEVERITY: Readonly<Record<PressureAction, number>> = { SLOW_DOWN: 1, BUSY: 1, PAUSE: 2 };
/** Clients ignore what comes quicker. */
export const MIN_INTERVAL_MS = 500;

/** What to tell now; undefined: nothing, or nothing new. `acceptsOnlyPause`: the other two can mute a legacy client for good. */
export function judgePressure(
  shares: Shares,
  sentPressure: SentPressure | undefined,
  at: number,
  settings: PressureSettings,
  acceptsOnlyPause: boolean,
): PressureAction | undefined {
  const action = actionFor(shares, settings);
  if (action === undefined || (acceptsOnlyPause && action !== 'PAUSE')) return undefined;
  if (sentPressure === undefined) return action;
  const sinceMs = at - sentPressure.at;
  if (sinceMs < MIN_INTERVAL_MS) return undefined;
  return sinceMs >= settings.resumeAfterMs || SEVERITY[action] > SEVERITY[sentPressure.action]
    ? action
    : undefined;
}

function actionFor({ session, fleet }: Shares, settings: PressureSettings): PressureAction | undefined {
  if (Math.max(session, fleet) >= settings.pauseShare) return 'PAUSE';
  if (session >= settings.slowDownShare) return 'SLOW_DOWN';
  return fleet >= settings.slowDownShare ? 'BUSY' : undefined;
}
