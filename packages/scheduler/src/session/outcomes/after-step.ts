/** Hot path: the end of every step: delivers outcomes in order, applies backpressure, ends a closing session. */

import { isRecoverable, noteChange } from '../handover/saved-state.ts';
import { type Session, type Utterance, understands } from '../session.ts';
import { cutStream } from '../speech/accept-audio.ts';
import { nextChangeAt } from '../speech/segmentation.ts';
import { count, type Step, send } from '../step-context.ts';
import { judgePressure, type Shares } from './backpressure.ts';
import { acknowledge, type Delivered, gapEndsAt, keep, type Released, release, unsent } from './delivery.ts';
import { noteFailure, sendAccepted, stopCounting } from './progress.ts';

/** Time from an outcome to its delivery: an earlier gap, or a save that must come first, delays it. */
const DELIVER = { stage: 'deliver' };
/** Share of a session's utterances that may be without a slot before that counts as pressure. */
const UNPLACED_PART = 1 / 4;
/** A free slot is found in less time. */
const PLACED_WITHIN_MS = 100;

export function finishStep(step: Step, session: Session): void {
  if (session.phase === 'ended') return;
  deliver(step, session);
  if (understands(session, 'result_ack')) sendKept(step, session);
  if (session.phase !== 'draining') applyBackpressure(step, session);
  noteSpeaking(step, session);
  if (session.phase === 'closing' && isAllSent(session)) {
    send(step, session, { kind: 'closed', isOrdered: session.isCloseOrdered });
    step.effects.push({ kind: 'end', reason: 'closed' });
  }
}

function noteSpeaking(step: Step, session: Session): void {
  const isSpeaking = session.draft !== undefined;
  if (isSpeaking === session.isSpeaking) return;
  session.isSpeaking = isSpeaking;
  step.effects.push({ kind: 'speaking', isSpeaking });
}

/** Delivered outcomes may still wait until the client has acknowledged earlier ones. */
const isAllSent = ({ delivery: { waiting, kept }, sentSeq, link }: Session): boolean =>
  waiting.length === 0 && (link === undefined || (kept.at(-1)?.deliverySeq ?? 0) <= sentSeq);

function deliver(step: Step, session: Session): void {
  const { settings } = step;
  const mayLeave = (utterance: Utterance) => isRecoverable(session, utterance);
  for (const released of release(session.delivery, step.at, settings.delivery, mayLeave)) {
    noteChange(session, urgencyOf(session, released));
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
    if (delivered.outcome.kind === 'result')
      session.playable.set(delivered.utterance.groupId, delivered.utterance);
    if (!isNumbered) sendOutcome(step, session, delivered);
    // Without acknowledgements, sent counts as received.
    if (!isNumbered && !isLate) step.effects.push({ kind: 'delivered', utterance: delivered.utterance });
    if (step.isTraced) step.effects.push({ kind: 'trace', delivered, at: step.at });
  }
}

/** A client that acknowledges reports on its return what it received. To the others an unsaved delivery would be sent twice. */
function urgencyOf(session: Session, released: Released<Utterance>): 'later' | 'soon' | 'now' {
  const { rendition } = released.kind === 'delivered' ? released.delivered.utterance : released.utterance;
  if (rendition !== undefined) return 'now';
  return understands(session, 'result_ack') ? 'later' : 'soon';
}

/**
 * Outcomes of several languages do not leave in the order of acceptance: another instance learns only from the saved state which one has which
 * number, and so which ones the client has received.
 */
const isNumberSaved = (session: Session, { utterance, deliverySeq }: Delivered<Utterance>): boolean =>
  !session.isShared || utterance.rendition === undefined || deliverySeq <= session.savedSeq;

/** The client has received all outcomes up to this number. */
export function acknowledgeUpTo(step: Step, session: Session, deliverySeq: number): void {
  for (const { utterance } of acknowledge(session.delivery, deliverySeq))
    step.effects.push({ kind: 'delivered', utterance });
}

/** A client that acknowledges gets no more at once than its connection takes; the rest follows its acknowledgements. */
function sendKept(step: Step, session: Session): void {
  if (session.link === undefined) return;
  for (const delivered of unsent(session.delivery, session.sentSeq, step.settings.delivery)) {
    if (!isNumberSaved(session, delivered)) return;
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

/** Closes a gap: the utterance is missing and its job is cancelled. */
function abandonGap(step: Step, session: Session, utterance: Utterance, reason: string): void {
  // Even if its job is not recorded yet: the acceptance must not follow the outcome.
  sendAccepted(step, session, utterance);
  noteChange(session, 'now');
  stopCounting(step, session, utterance);
  count(step, 'scheduler_utterance_outcomes_total', { outcome: reason });
  const message = 'a later result was ready and this one did not come in time';
  step.effects.push({ kind: 'cancel', utterance, code: 'RESULT_TIMEOUT', message });
  noteFailure(step, session, utterance, 'RESULT_TIMEOUT', message, { details: { reason } });
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
  // A client that obeys falls silent: that silence must not end the open utterance.
  if (action === 'PAUSE') {
    cutStream(step, session, { kind: 'pause_requested', until: step.at + pressure.resumeAfterMs });
  }
  send(step, session, { kind: 'pressure', action, resumeAfterMs: pressure.resumeAfterMs });
}

function sharesOf(step: Step, session: Session): Shares {
  const { maxUtterances, maxAudioBytes } = step.settings;
  const voice = step.voiceInRoom(session.sessionId);
  return {
    session: Math.max(
      voice?.kind === 'speaks' && voice.isFull ? 1 : 0,
      session.running / maxUtterances,
      countWithoutSlot(step, session) / Math.max(1, maxUtterances * UNPLACED_PART),
      session.audioBytes / maxAudioBytes,
    ),
    fleet: Math.max(step.queueShare(), step.audio.usedShare()),
  };
}

/** Several utterances at once, for example after a reconnect, are no queue while there are free slots for them. */
function countWithoutSlot({ at }: Step, { unplaced, delivery }: Session): number {
  if (unplaced === 0) return 0;
  const since = at - PLACED_WITHIN_MS;
  return delivery.waiting.filter(({ isPlaced, acceptedAt }) => !isPlaced && acceptedAt <= since).length;
}

/** When the session must act without an event; undefined: only an event makes it act. */
export function nextWakeAt(session: Session, settings: Step['settings']): number | undefined {
  const times = [
    nextChangeAt(session.segmentation, settings.segmentation),
    gapEndsAt(session.delivery, settings.delivery),
    session.expiresAt,
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
