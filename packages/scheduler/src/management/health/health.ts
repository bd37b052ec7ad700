/** Cold path: transitions of a node's health. Pure; every transition is in the table of domain/node. */
import { NODE_NEXT, type NodeEvent, type NodeHealth, type ReportedHealth } from '../../domain/node.ts';

export interface HealthSettings {
  /** Number of consecutive healthy heartbeats that make a node ready. */
  readonly checkCount: number;
  readonly warmupTimeoutMs: number;
  readonly failureWindow: number;
  readonly failureCount: number;
  readonly consecutiveFailureCount: number;
  readonly flapWindowMs: number;
  readonly flapMaxChecks: number;
}

export interface HealthState {
  readonly health: NodeHealth;
  readonly since: number;
  readonly lastBeatAt: number;
  /** Consecutive healthy and unhealthy heartbeats. */
  readonly goodRun: number;
  readonly badRun: number;
  readonly beats: number;
  /** Sequence numbers of the unhealthy heartbeats within the window. */
  readonly badBeats: readonly number[];
  /** Consecutive changes from ready to degraded within the flap window. */
  readonly flaps: number;
  readonly lastFlapAt: number;
  /** A drain by an operator survives reconnects; the node itself ends a drain that it began. */
  readonly isDrainOrdered: boolean;
  /** As the node last reported; a heartbeat without a report changes nothing. */
  readonly reported: ReportedHealth | undefined;
}

export type HealthInput =
  | { readonly kind: 'registration' | 'beat'; readonly reported?: ReportedHealth; readonly fault?: string }
  /** `silenceMs`: how long a node may be silent. */
  | { readonly kind: 'scan'; readonly silenceMs: number }
  /** The connection ended and the node did not reconnect, or the node was removed. */
  | { readonly kind: 'loss'; readonly reason: 'disconnected' | 'removed' }
  | { readonly kind: 'drain' | 'undrain' };

export interface HealthChange {
  readonly event: NodeEvent;
  readonly from: NodeHealth;
  readonly to: NodeHealth;
  readonly reason: string;
}

export interface HealthStep {
  readonly state: HealthState;
  readonly changes: readonly HealthChange[];
}

const NO_BEATS: readonly number[] = [];
const NO_CHANGES: readonly HealthChange[] = [];

export const newHealth = (now: number): HealthState => ({
  health: 'registering',
  since: now,
  lastBeatAt: now,
  goodRun: 0,
  badRun: 0,
  beats: 0,
  badBeats: NO_BEATS,
  flaps: 0,
  lastFlapAt: 0,
  isDrainOrdered: false,
  reported: undefined,
});

export function stepHealth(
  state: HealthState,
  input: HealthInput,
  settings: HealthSettings,
  now: number,
): HealthStep {
  const still: HealthStep = { state, changes: NO_CHANGES };
  switch (input.kind) {
    case 'registration':
      return register(still, input.reported, input.fault, settings, now);
    case 'beat':
      return beat(still, input.reported ?? state.reported, input.fault, settings, now);
    case 'scan':
      return scan(still, input.silenceMs, settings, now);
    case 'loss':
      return move(still, 'expired', input.reason, now);
    case 'drain':
      return move(set(still, { isDrainOrdered: true }), 'drained', 'operator', now);
    case 'undrain': {
      // The command also ends a drain that the node reported, until it reports another one.
      const reported = state.reported === 'degraded' ? state.reported : undefined;
      const step = move(set(still, { isDrainOrdered: false, reported }), 'undrained', 'operator', now);
      return stopIfReported(step, reported, now) ?? proveIfDue(step, settings, now);
    }
  }
}

/** Healthy heartbeats needed to become ready: each further fall within the flap window doubles the number. */
export function checksNeeded(state: HealthState, settings: HealthSettings, now: number): number {
  const isFlapping = state.flaps > 1 && now - state.lastFlapAt <= settings.flapWindowMs;
  if (!isFlapping) return settings.checkCount;
  return Math.max(
    settings.checkCount,
    Math.min(settings.flapMaxChecks, settings.checkCount * 2 ** (state.flaps - 1)),
  );
}

function register(
  still: HealthStep,
  reported: ReportedHealth | undefined,
  fault: string | undefined,
  settings: HealthSettings,
  now: number,
): HealthStep {
  const cleared = set(still, { goodRun: 0, badRun: 0, badBeats: NO_BEATS, lastBeatAt: now, reported });
  const step = set(move(cleared, 'registered', 'registered', now), { since: now });
  if (reported === 'offline') return move(step, 'expired', 'reported_offline', now);
  if (step.state.isDrainOrdered) return move(step, 'drained', 'operator', now);
  const stopped = stopIfReported(step, reported, now);
  if (stopped !== undefined) return stopped;
  if (reported !== 'ready' || fault !== undefined) return step;
  // A node that reports `ready` needs no further heartbeats, unless it flaps.
  return proveIfDue(set(step, { goodRun: settings.checkCount }), settings, now);
}

function beat(
  still: HealthStep,
  reported: ReportedHealth | undefined,
  fault: string | undefined,
  settings: HealthSettings,
  now: number,
): HealthStep {
  let step = set(count(still, fault, settings, now), { reported });
  if (reported === 'offline') return move(step, 'expired', 'reported_offline', now);
  // The node was set offline because of missing heartbeats, or by its own report; this heartbeat shows that it works.
  if (step.state.health === 'offline') step = move(step, 'registered', 'heartbeat', now);
  if (step.state.isDrainOrdered) return move(step, 'drained', 'operator', now);
  const stopped = stopIfReported(step, reported, now);
  if (stopped !== undefined) return stopped;
  if (reported === 'ready') step = move(step, 'undrained', 'reported_ready', now);

  const { state } = step;
  if (state.badRun === 0) return proveIfDue(step, settings, now);
  if (state.health === 'registering') return falterAfterWarmup(step, settings, now);
  const isTooMany =
    state.badRun >= settings.consecutiveFailureCount || state.badBeats.length >= settings.failureCount;
  return isTooMany ? fall(step, fault ?? 'unhealthy', settings, now) : step;
}

/** What the node reports holds from this report on: failure counts and flap damping are for what the scheduler measures. */
function stopIfReported(
  step: HealthStep,
  reported: ReportedHealth | undefined,
  now: number,
): HealthStep | undefined {
  switch (reported) {
    case 'degraded':
      return move(move(step, 'undrained', 'reported_degraded', now), 'faltered', 'reported_degraded', now);
    // The node is about to leave: it gets no new jobs and finishes the ones it has.
    case 'draining':
      return move(step, 'drained', 'reported_draining', now);
    default:
      return undefined;
  }
}

/** Counts falls of a ready node that follow each other. */
function fall(step: HealthStep, reason: string, settings: HealthSettings, now: number): HealthStep {
  const { health, flaps, lastFlapAt } = step.state;
  const moved = move(step, 'faltered', reason, now);
  if (health !== 'ready') return moved;
  const isAgain = flaps > 0 && now - lastFlapAt <= settings.flapWindowMs;
  return set(moved, { flaps: isAgain ? flaps + 1 : 1, lastFlapAt: now });
}

function count(
  step: HealthStep,
  fault: string | undefined,
  settings: HealthSettings,
  now: number,
): HealthStep {
  const { state } = step;
  const beats = state.beats + 1;
  const inWindow = state.badBeats.filter((number) => number > beats - settings.failureWindow);
  if (fault === undefined) {
    const badBeats = inWindow.length === 0 ? NO_BEATS : inWindow;
    return set(step, { lastBeatAt: now, beats, badBeats, goodRun: state.goodRun + 1, badRun: 0 });
  }
  const badBeats = [...inWindow, beats];
  return set(step, { lastBeatAt: now, beats, badBeats, goodRun: 0, badRun: state.badRun + 1 });
}

function scan(step: HealthStep, silenceMs: number, settings: HealthSettings, now: number): HealthStep {
  if (now - step.state.lastBeatAt > silenceMs) {
    return move(step, 'expired', 'heartbeat_timeout', now);
  }
  return step.state.health === 'registering' ? falterAfterWarmup(step, settings, now) : step;
}

/** Unhealthy heartbeats while models load are no failures; a start that takes too long is one. */
const falterAfterWarmup = (step: HealthStep, settings: HealthSettings, now: number): HealthStep =>
  now - step.state.since > settings.warmupTimeoutMs ? move(step, 'faltered', 'warmup_timeout', now) : step;

function proveIfDue(step: HealthStep, settings: HealthSettings, now: number): HealthStep {
  if (step.state.goodRun < checksNeeded(step.state, settings, now)) return step;
  return move(step, 'proved', 'healthy', now);
}

/** The only place where health changes. */
function move(step: HealthStep, event: NodeEvent, reason: string, now: number): HealthStep {
  const from = step.state.health;
  const to = NODE_NEXT[from][event];
  if (to === undefined || to === from) return step;
  const state = { ...step.state, ...countersIn(to), health: to, since: now };
  return { state, changes: [...step.changes, { event, from, to, reason }] };
}

function countersIn(to: NodeHealth): Partial<HealthState> {
  if (to === 'ready') return { badRun: 0, badBeats: NO_BEATS };
  // Heartbeats before the offline time prove nothing afterwards.
  if (to === 'offline') return { goodRun: 0, badRun: 0, badBeats: NO_BEATS };
  return {};
}

const set = (step: HealthStep, part: Partial<HealthState>): HealthStep => ({
  state: { ...step.state, ...part },
  changes: step.changes,
});
