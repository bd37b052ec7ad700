/** Hot path: when a client must send less, and by which message. Pure. */

export type PressureAction = 'SLOW_DOWN' | 'BUSY' | 'PAUSE';

export interface PressureSettings {
  /** Shares of a limit, 0 to 1. */
  readonly slowDownShare: number;
  readonly pauseShare: number;
  readonly resumeAfterMs: number;
}

/** Fill levels of the limits that apply to the session's audio, each 0 to 1. */
export interface Shares {
  /** Of the session: utterances without an outcome, utterances without a slot, audio held. */
  readonly session: number;
  /** Of the instance: jobs waiting for a slot, audio held. */
  readonly fleet: number;
}

/** The last backpressure message and its time. */
export interface SentPressure {
  readonly action: PressureAction;
  readonly at: number;
}

const SEVERITY: Readonly<Record<PressureAction, number>> = { SLOW_DOWN: 1, BUSY: 1, PAUSE: 2 };
/** Clients ignore messages that follow each other faster. */
export const MIN_INTERVAL_MS = 500;

/** The message to send now; undefined: none. `acceptsOnlyPause`: the other actions can mute a legacy client permanently. */
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
