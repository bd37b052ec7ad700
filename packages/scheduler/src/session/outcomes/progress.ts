/** Hot path: what becomes of an utterance, from its job's moves to its one outcome, told in the order a client needs. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import { type ErrorCode, isErrorCode } from '../../domain/errors.ts';
import type { JobRecord, JobState } from '../../domain/job.ts';
import type { SavedName } from '../event.ts';
import { hasMissingOutcome, isRecoverable, noteChange } from '../handover/saved-state.ts';
import { UI_EVENTS, type UiEventName } from '../output.ts';
import { isLegacy, type Session, type Utterance, understands } from '../session.ts';
import { dropResentAudio } from '../speech/audio-budget.ts';
import { noteText } from '../speech/groups.ts';
import { count, type Step, send, sendUiEvent } from '../step-context.ts';
import { settle } from './delivery.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** Its audio is the scheduler's responsibility from here; not before another instance would know of it, and of what became of it, too. */
export function sendAccepted(step: Step, session: Session, utterance: Utterance): void {
  utterance.isAdmitted = true;
  if (utterance.isAnnounced || !isRecoverable(session, utterance)) return;
  utterance.isAnnounced = true;
  if (understands(session, 'utterance_accepted')) send(step, session, { kind: 'accepted', utterance });
}

/** Whoever comes back or sends it again has perhaps not heard of it, and would keep its audio for ever. */
export function resendAccepted(step: Step, session: Session, utterance: Utterance): void {
  if (utterance.isAnnounced && understands(session, 'utterance_accepted')) {
    send(step, session, { kind: 'accepted', utterance });
  }
}

export function noteDispatched(step: Step, session: Session, utterance: Utterance, outcome: DispatchOutcome) {
  if (outcome.kind === 'dispatched') {
    sendAccepted(step, session, utterance);
    return noteMove(step, session, utterance, outcome.job);
  }
  const [main] = outcome.reasons ?? [];
  const code = NO_NODE_CODES.has(outcome.code) ? 'NO_AVAILABLE_NODE' : outcome.code;
  fail(step, session, utterance, code, outcome.message, {
    reason: main?.reason ?? outcome.code.toLowerCase(),
  });
}

/** What sessions are told when no node was to be had, for whatever reason. */
const NO_NODE_CODES: ReadonlySet<ErrorCode> = new Set(['NO_CAPABLE_NODE', 'ALL_CANDIDATES_FULL_OR_FAILED']);

/** The job as it is now. Earlier stages that were not heard of are told first, so that a client sees them in order. */
export function noteMove(step: Step, session: Session, utterance: Utterance, job: JobRecord): void {
  if (utterance.isSettled) return;
  if (job.fence !== undefined) {
    utterance.nodeId = job.fence.nodeId;
    notePlaced(session, utterance);
    sendUiEventOnce(step, session, utterance, 'DISPATCHED');
  }
  if (HAS_RUN.has(job.state) || job.result !== undefined)
    sendUiEventOnce(step, session, utterance, 'NODE_ACCEPTED');
  if (job.failure !== undefined) {
    const code = isErrorCode(job.failure.code) ? job.failure.code : 'PROCESSING_ERROR';
    fail(step, session, utterance, code, job.failure.message);
  } else if (job.result !== undefined) {
    if (job.result.textAsr !== '') sendUiEventOnce(step, session, utterance, 'ASR_FINAL');
    if (job.result.textTranslated !== '') sendUiEventOnce(step, session, utterance, 'NMT_DONE');
    if (!utterance.hadOutcome)
      session.groups = noteText(session.groups, utterance.groupId, job.result.textAsr, step.settings.group);
    settleUtterance(step, session, utterance, outcomeOf(job.result, toNodeMs(job)));
  }
}

/** What another instance accepted, or drives, as its record says. */
export function noteRecord(step: Step, session: Session, utterance: Utterance, job: JobRecord): void {
  if (utterance.isSettled) return;
  sendAccepted(step, session, utterance);
  noteMove(step, session, utterance, job);
}

/** There is no record of it. */
export function noteGone(step: Step, session: Session, utterance: Utterance): void {
  if (utterance.isSettled) return;
  if (utterance.hadOutcome) fail(step, session, utterance, 'RESULT_TIMEOUT', 'its result is no longer kept');
  else if (utterance.isAdmitted)
    fail(step, session, utterance, 'NO_AVAILABLE_NODE', 'its job was given up on another instance');
  else fail(step, session, utterance, 'AUDIO_LOST', 'the instance that had its audio is gone');
}

/** Other instances know of these; what waited for that goes on. */
export function noteSaved(step: Step, session: Session, names: readonly SavedName[]): void {
  for (const { utterance, jobId, includesMissing } of names) {
    utterance.savedJobId = jobId;
    utterance.isMissingSaved ||= includesMissing;
    if (utterance.isAdmitted) sendAccepted(step, session, utterance);
  }
}

const HAS_RUN: ReadonlySet<JobState> = new Set(['RUNNING', 'FINISHED']);

export function notePartial(
  step: Step,
  session: Session,
  utterance: Utterance,
  { text, isFinal }: { text: string; isFinal: boolean },
): void {
  if (utterance.isSettled) return;
  sendUiEventOnce(step, session, utterance, 'DISPATCHED');
  sendUiEventOnce(step, session, utterance, 'NODE_ACCEPTED');
  sendUiEventOnce(step, session, utterance, 'ASR_PARTIAL');
  if (isFinal) sendUiEventOnce(step, session, utterance, 'ASR_FINAL');
  send(step, session, { kind: 'partial', about: utterance, text, isFinal });
}

/** No translation will come. To legacy clients an error would be an alert: they get the ui_event alone. */
export function fail(
  step: Step,
  session: Session,
  utterance: Utterance,
  code: ErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  if (utterance.isSettled) return;
  settleUtterance(step, session, utterance, { kind: 'missing', reason: 'job_failed' });
  sendAccepted(step, session, utterance);
  noteFailure(step, session, utterance, code, message, details);
}

export function noteFailure(
  step: Step,
  session: Session,
  utterance: Utterance,
  code: ErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  // Who acknowledges may be sending it again for not having heard of this: that is no other try, and would have a second outcome.
  if (!understands(session, 'result_ack')) unbind(session, utterance);
  sendUiEvent(step, session, utterance, 'ERROR', utterance.acceptedAt, code);
  if (isLegacy(session)) return;
  const about = { utterance_index: utterance.index, job_id: utterance.jobId };
  send(step, session, { kind: 'error', code, message, details: { ...details, ...about } });
}

/** A client that has heard of a failure and sends it again means another try. */
export function unbindFailed(session: Session, deliverySeq: number): void {
  for (const { utterance, outcome, deliverySeq: seq } of session.delivery.kept)
    if (seq <= deliverySeq && outcome.kind === 'missing') unbind(session, utterance);
}

/** A failure leaves nothing bound: sent again, it is another try. */
function unbind({ requests }: Session, utterance: Utterance): void {
  const { requestId } = utterance;
  if (requestId !== undefined && requests.get(requestId) === utterance) requests.delete(requestId);
}

function settleUtterance(step: Step, session: Session, utterance: Utterance, outcome: Outcome): void {
  if (!settle(session.delivery, utterance, outcome, step.at)) return;
  if (hasMissingOutcome(utterance)) noteChange(session, 'now');
  stopCounting(step, session, utterance);
  step.effects.push({ kind: 'forget', utterance });
  if (utterance.hadOutcome) return;
  const seconds = (step.at - utterance.acceptedAt) / 1_000;
  count(step, 'scheduler_utterance_outcomes_total', {
    outcome: outcome.kind === 'result' ? 'result' : outcome.reason,
  });
  step.effects.push({ kind: 'observe', name: 'scheduler_utterance_seconds', value: seconds });
}

/** It counts no longer: neither as running nor with its audio. */
export function stopCounting(step: Step, session: Session, utterance: Utterance): void {
  notePlaced(session, utterance);
  // The rest of what was being sent again is not wanted any more, or never comes: nothing else would end its claim.
  if (session.resentAudio?.utterance === utterance) dropResentAudio(step, session);
  session.running -= 1;
  session.audioBytes -= utterance.audioBytes;
  utterance.audioBytes = 0;
}

function notePlaced(session: Session, utterance: Utterance): void {
  if (utterance.isPlaced) return;
  utterance.isPlaced = true;
  session.unplaced -= 1;
}

/** A retry passes through the same stages again, and the client need not know. */
function sendUiEventOnce(step: Step, session: Session, utterance: Utterance, event: UiEventName): void {
  const bit = 1 << UI_EVENTS.indexOf(event);
  if ((utterance.sentUiEvents & bit) !== 0) return;
  utterance.sentUiEvents |= bit;
  sendUiEvent(step, session, utterance, event, utterance.acceptedAt);
}

/** From the sending of the attempt that counts to its acknowledgement. */
function toNodeMs({ timeline, fence }: JobRecord): number | undefined {
  const ofAttempt = timeline.filter(({ attempt }) => attempt === fence?.attempt);
  const sent = ofAttempt.find(({ state }) => state === 'DISPATCHED');
  const acknowledged = ofAttempt.find(({ state }) => state === 'RUNNING');
  return sent === undefined || acknowledged === undefined ? undefined : acknowledged.at - sent.at;
}
