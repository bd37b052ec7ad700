/** Hot path: what every step ends with: outcomes leave in order, the client is told to slow down, a closing session ends. */

import { isRecoverable, noteChange } from '../handover/saved-state.ts';
import { type Session, type Utterance, understands } from '../session.ts';
import { cutStream } from '../speech/accept-audio.ts';
import { nextChangeAt } from '../speech/segmentation.ts';
import { count, type Step, send } from '../step-context.ts';
import { judgePressure, type Shares } from './backpressure.ts';
import { gapEndsAt, keep, release, unsent } from './delivery.ts';
import { noteFailure, sendAccepted, stopCounting } from './progress.ts';

/** From an outcome to its turn: what a gap before it, or a store that must know it first, keeps back. */
const DELIVER = { stage: 'deliver' };
/** Groups whose playback may still be reported. */
const MAX_PLAYABLE = 8;
/** The part of a session's utterances that may be without a slot before that is pressure of its own. */
const UNPLACED_PART = 1 / 4;
/** A slot that is free is found in less. */
const PLACED_WITHIN_MS = 100;

export function finishStep(step: Step, session: Session): void {
  if (session.phase === 'ended') return;
  deliver(step, session);
  if (understands(session, 'result_ack')) sendKept(step, session);
  if (session.phase !== 'draining') applyBackpressure(step, session);
  if (session.phase === 'closing' && isAllSent(session)) {
    send(step, session, { kind: 'closed' });
    step.effects.push({ kind: 'end', reason: 'closed' });
  }
}

/** Of what has left some may wait until the client has taken the rest. */
const isAllSent = ({ delivery: { waiting, kept }, sentSeq, link }: Session): boolean =>
  waiting.length === 0 && (link === undefined || (kept.at(-1)?.deliverySeq ?? 0) <= sentSeq);

function deliver(step: Step, session: Session): void {
  const { settings } = step;
  const mayLeave = (utterance: Utterance) => isRecoverable(session, utterance);
  for (const released of release(session.delivery, step.at, settings.delivery, mayLeave)) {
    // Who acknowledges says on its return what it has heard; the others would be told again what nobody wrote down.
    noteChange(session, understands(session, 'result_ack') ? 'later' : 'soon');
    if (released.kind === 'abandoned') {
      abandonGap(step, session, released.utterance, released.reason);
      continue;
    }
    const { delivered } = released;
    const value = (step.at - delivered.utterance.readyAt) / 1_000;
    step.effects.push({ kind: 'observe', name: 'scheduler_stage_seconds', value, labels: DELIVER });
    const isNumbered = understands(session, 'result_ack');
    const isLate = session.link === undefined && session.resumeDigest !== undefined;
    if (isNumbered || isLate) keepDelivered(step, session, delivered);
    if (delivered.outcome.kind === 'result') notePlayable(session, delivered.utterance);
    if (!isNumbered) sendOutcome(step, session, delivered);
    if (step.isTraced) step.effects.push({ kind: 'trace', delivered, at: step.at });
  }
}

/** Whoever acknowledges is told no more at once than it takes; the rest follows its acknowledgements. */
function sendKept(step: Step, session: Session): void {
  if (session.link === undefined) return;
  for (const delivered of unsent(session.delivery, session.sentSeq, step.settings.delivery)) {
    session.sentSeq = delivered.deliverySeq;
    sendOutcome(step, session, delivered);
  }
}

function keepDelivered(step: Step, session: Session, delivered: Parameters<typeof keep<Utterance>>[1]): void {
  const before = session.delivery.forgotten;
  keep(session.delivery, delivered, step.settings.delivery);
  const forgotten = session.delivery.forgotten - before;
  if (forgotten > 0) count(step, 'scheduler_session_results_forgotten_total', undefined, forgotten);
}

export function sendOutcome(
  step: Step,
  session: Session,
  delivered: Parameters<typeof keep<Utterance>>[1],
): void {
  send(step, session, {
    kind: 'outcome',
    delivered,
    isNumbered: understands(session, 'result_ack'),
    sentAt: step.at,
    webToSchedulerMs: session.webToSchedulerMs,
  });
}

/** The gap is closed; what still works on it works for nobody. */
function abandonGap(step: Step, session: Session, utterance: Utterance, reason: string): void {
  // However long the store takes to admit it: nothing is accepted after its outcome.
  sendAccepted(step, session, utterance);
  noteChange(session, 'now');
  stopCounting(step, session, utterance);
  count(step, 'scheduler_utterance_outcomes_total', { outcome: reason });
  const message = 'a later result was ready and this one did not come in time';
  step.effects.push({ kind: 'cancel', utterance, code: 'RESULT_TIMEOUT', message });
  noteFailure(step, session, utterance, 'RESULT_TIMEOUT', message, { reason });
}

function notePlayable({ playable }: Session, utterance: Utterance): void {
  playable.delete(utterance.groupId);
  playable.set(utterance.groupId, utterance);
  const [oldest] = playable.keys();
  if (playable.size > MAX_PLAYABLE && oldest !== undefined) playable.delete(oldest);
}

function applyBackpressure(step: Step, session: Session): void {
  const { pressure } = step.settings;
  const action = judgePressure(
    sharesOf(step, session),
    session.sentPressure,
    step.at,
    pressure,
    !understands(session, 'backpressure'),
  );
  if (action === undefined || session.link === undefined) return;
  session.sentPressure = { action, at: step.at };
  count(step, 'scheduler_backpressure_total', { action });
  // Who obeys falls silent: that must not end what is being said.
  if (action === 'PAUSE') {
    cutStream(step, session, { kind: 'pause_requested', until: step.at + pressure.resumeAfterMs });
  }
  send(step, session, { kind: 'pressure', action, resumeAfterMs: pressure.resumeAfterMs });
}

function sharesOf(step: Step, session: Session): Shares {
  const { maxUtterances, maxAudioBytes } = step.settings;
  return {
    session: Math.max(
      session.running / maxUtterances,
      countWithoutSlot(step, session) / Math.max(1, maxUtterances * UNPLACED_PART),
      session.audioBytes / maxAudioBytes,
    ),
    fleet: Math.max(step.queueShare(), step.audio.usedShare()),
  };
}

/** Several utterances at once, sent again after a reconnect for instance, are no queue as long as there are slots for them. */
function countWithoutSlot({ at }: Step, { unplaced, delivery }: Session): number {
  if (unplaced === 0) return 0;
  const since = at - PLACED_WITHIN_MS;
  return delivery.waiting.filter(({ isPlaced, acceptedAt }) => !isPlaced && acceptedAt <= since).length;
}

/** When the session has something to do by itself; undefined: not before something happens to it. */
export function nextWakeAt(session: Session, settings: Step['settings']): number | undefined {
  const times = [
    nextChangeAt(session.segmentation, settings.segmentation),
    gapEndsAt(session.delivery, settings.delivery),
    session.expiresAt,
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
