/** Hot path: the progress of an utterance, from the moves of its job to its one outcome, sent in the order a client needs. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import { type ErrorCode, isErrorCode } from '../../domain/errors.ts';
import type { JobRecord, JobState } from '../../domain/job.ts';
import type { SessionEvent } from '../event.ts';
import { hasMissingOutcome, isRecoverable, noteChange } from '../handover/saved-state.ts';
import { UI_EVENTS, type UiEventName } from '../output.ts';
import {
  allOf,
  isFirst,
  isLegacy,
  isOneOfSeveral,
  jobIdOf,
  type Session,
  type Utterance,
  understands,
} from '../session.ts';
import { dropResentAudio } from '../speech/audio-budget.ts';
import { noteText } from '../speech/groups.ts';
import { count, type Step, send, sendUiEvent } from '../step-context.ts';
import { isAdmitted, moveAcceptance } from '../utterance-state.ts';
import { settle, type Work } from './delivery.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** Sends the acceptance: from here the scheduler is responsible for the audio. Waits until the saved state contains the utterance. */
export function sendAccepted(step: Step, session: Session, utterance: Utterance): void {
  moveAcceptance(utterance, 'admitted');
  if (!isRecoverable(session, utterance) || !moveAcceptance(utterance, 'announced')) return;
  if (isFirst(utterance) && understands(session, 'utterance_accepted'))
    send(step, session, { kind: 'accepted', utterance, quota: step.reachedQuota(session.tenantId) });
}

/** A client that resumes or sends audio again may have missed the acceptance and would keep the audio. */
export function resendAccepted(step: Step, session: Session, utterance: Utterance): void {
  if (
    isFirst(utterance) &&
    utterance.acceptance === 'announced' &&
    understands(session, 'utterance_accepted')
  ) {
    send(step, session, { kind: 'accepted', utterance, quota: step.reachedQuota(session.tenantId) });
  }
}

export function noteDispatched(step: Step, session: Session, utterance: Utterance, outcome: DispatchOutcome) {
  if (outcome.kind === 'dispatched') {
    sendAccepted(step, session, utterance);
    return noteMove(step, session, utterance, outcome.job);
  }
  const { hint, reasons = [], mainReason, retryAfterMs } = outcome;
  const code = outcome.code === 'ALL_CANDIDATES_FULL_OR_FAILED' ? 'NO_AVAILABLE_NODE' : outcome.code;
  fail(step, session, utterance, code, outcome.message, {
    hint,
    details: {
      reason: mainReason ?? outcome.code.toLowerCase(),
      reasons: reasons.map(({ reason, count }) => ({ reason, count })),
      ...(typeof retryAfterMs === 'number' && { retry_after_ms: retryAfterMs }),
    },
  });
}

/** Notes the current state of the job. Stages that this instance missed are sent first, so that a client sees them in order. */
export function noteMove(step: Step, session: Session, utterance: Utterance, job: JobRecord): void {
  if (utterance.isSettled) return;
  noteProgress(step, session, utterance, job);
  if (job.failure !== undefined) {
    const { code, hint } = describeFailure(session, job.failure.code);
    fail(step, session, utterance, code, job.failure.message, { hint });
  } else if (job.result !== undefined) {
    if (job.result.textAsr !== '') sendUiEventOnce(step, session, utterance, 'ASR_FINAL');
    if (job.result.textTranslated !== '') sendUiEventOnce(step, session, utterance, 'NMT_DONE');
    if (!utterance.wasSettledBefore)
      session.groups = noteText(session.groups, utterance.groupId, job.result.textAsr, step.settings.group);
    settleUtterance(step, session, utterance, outcomeOf(job.result, toNodeMs(job)));
  }
}

/** The job has a node, and perhaps its acknowledgement. */
export function noteProgress(step: Step, session: Session, utterance: Utterance, job: JobRecord): void {
  noteWork(step, utterance, job);
  if (job.fence !== undefined) {
    utterance.nodeId = job.fence.nodeId;
    notePlaced(session, utterance);
    sendUiEventOnce(step, session, utterance, 'DISPATCHED');
  }
  if (HAS_RUN.has(job.state) || job.result !== undefined)
    sendUiEventOnce(step, session, utterance, 'NODE_ACCEPTED');
}

function noteWork({ at }: Step, utterance: Utterance, { state, fence }: JobRecord): void {
  const now = WORK[state] ?? 'none';
  if (utterance.work.state === now && utterance.nodeId === fence?.nodeId) return;
  utterance.work = { state: now, since: at };
}

const WORK: Partial<Record<JobState, Work['state']>> = { DISPATCHED: 'sent', RUNNING: 'acknowledged' };

interface FailureForClient {
  readonly code: ErrorCode;
  readonly hint?: string;
}

export function describeFailure(session: Session, code: string): FailureForClient {
  if (!isErrorCode(code)) return { code: 'PROCESSING_ERROR' };
  return (isLegacy(session) ? FOR_LEGACY[code] : undefined) ?? { code };
}

/** Codes that legacy clients do not know. */
const FOR_LEGACY: Partial<Record<ErrorCode, FailureForClient>> = {
  ACK_TIMEOUT: { code: 'NODE_UNAVAILABLE' },
  NO_RESULT: {
    code: 'PROCESSING_ERROR',
    hint: 'This sentence was not translated, perhaps because it repeats the one before; otherwise say it again.',
  },
};

/** Notes the record of a job that another instance accepted or drives. */
export function noteRecord(step: Step, session: Session, utterance: Utterance, job: JobRecord): void {
  if (utterance.isSettled) return;
  sendAccepted(step, session, utterance);
  noteMove(step, session, utterance, job);
}

/** The job has no record. */
export function noteGone(step: Step, session: Session, utterance: Utterance): void {
  if (utterance.isSettled) return;
  if (utterance.wasSettledBefore)
    fail(step, session, utterance, 'RESULT_TIMEOUT', 'its result is no longer kept');
  else if (isAdmitted(utterance))
    fail(step, session, utterance, 'NO_AVAILABLE_NODE', 'its job was abandoned on another instance');
  else fail(step, session, utterance, 'AUDIO_LOST', 'the instance that had its audio is gone');
}

/** The saved state contains these utterances; what waited for that continues. */
export function noteSaved(
  step: Step,
  session: Session,
  { names, deliverySeq }: Extract<SessionEvent, { kind: 'saved' }>,
): void {
  session.savedSeq = Math.max(session.savedSeq, deliverySeq);
  for (const { utterance, jobId, includesMissing } of names) {
    utterance.savedJobId = jobId;
    utterance.isMissingSaved ||= includesMissing;
    if (isAdmitted(utterance)) sendAccepted(step, session, utterance);
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

interface FailureNotes {
  /** Absent: the hint of the code. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The utterance will have no translation. A legacy client would show an error as an alert: it gets only the ui_event. */
export function fail(
  step: Step,
  session: Session,
  utterance: Utterance,
  code: ErrorCode,
  message: string,
  more: FailureNotes = {},
): void {
  if (utterance.isSettled) return;
  settleUtterance(step, session, utterance, { kind: 'missing', reason: 'job_failed' });
  sendAccepted(step, session, utterance);
  noteFailure(step, session, utterance, code, message, more);
}

export function noteFailure(
  step: Step,
  session: Session,
  utterance: Utterance,
  code: ErrorCode,
  message: string,
  { hint, details }: FailureNotes = {},
): void {
  // A client that acknowledges may repeat the request before it receives this failure: that is no new try and must not get a second outcome.
  const isWhole = allOf(utterance).every(({ isSettled }) => isSettled);
  if (!understands(session, 'result_ack') && isWhole) unbind(session, utterance);
  sendUiEvent(step, session, utterance, 'ERROR', utterance.acceptedAt, code, hint);
  if (isLegacy(session)) return;
  const about = {
    utterance_index: utterance.index,
    job_id: jobIdOf(utterance),
    ...(isOneOfSeveral(utterance) && { tgt_lang: utterance.rendition?.language }),
  };
  send(step, session, { kind: 'error', code, message, hint, details: { ...details, ...about } });
}

/** After the client acknowledged all outcomes of a request, and one was a failure, the same request is a new try. */
export function unbindFailed(session: Session, deliverySeq: number): void {
  const { kept, waiting } = session.delivery;
  const isOpen = (one: Utterance): boolean =>
    waiting.includes(one) ||
    kept.some(({ utterance, deliverySeq: seq }) => utterance === one && seq > deliverySeq);
  for (const { utterance, outcome, deliverySeq: seq } of kept) {
    if (seq > deliverySeq) continue;
    const plan = utterance.rendition?.plan;
    if (plan !== undefined && outcome.kind === 'missing') plan.hasMissing = true;
    const hasFailed = plan?.hasMissing ?? outcome.kind === 'missing';
    if (hasFailed && !allOf(utterance).some(isOpen)) unbind(session, utterance);
  }
}

/** Removes the request id: the same request is a new try. */
function unbind({ requests }: Session, utterance: Utterance): void {
  const { requestId } = utterance;
  const bound = requestId === undefined ? undefined : requests.get(requestId);
  if (bound !== undefined && allOf(utterance).includes(bound)) requests.delete(requestId as string);
}

export function settleUtterance(step: Step, session: Session, utterance: Utterance, outcome: Outcome): void {
  if (!settle(session.delivery, utterance, outcome, step.at)) return;
  if (hasMissingOutcome(utterance)) noteChange(session, 'now');
  stopCounting(step, session, utterance);
  step.effects.push({ kind: 'forget', utterance });
  if (utterance.wasSettledBefore) return;
  const seconds = (step.at - utterance.acceptedAt) / 1_000;
  count(step, 'scheduler_utterance_outcomes_total', {
    outcome: outcome.kind === 'result' ? 'result' : outcome.reason,
  });
  step.effects.push({ kind: 'observe', name: 'scheduler_utterance_seconds', value: seconds });
}

/** The utterance no longer counts as running, nor its audio against the limit. One in several languages counts until its last outcome. */
export function stopCounting(step: Step, session: Session, utterance: Utterance): void {
  notePlaced(session, utterance);
  if (allOf(utterance).every((other) => other === utterance || other.isSettled))
    stopCountingAll(step, session, utterance);
}

export function stopCountingAll(step: Step, session: Session, utterance: Utterance): void {
  notePlaced(session, utterance);
  // Audio that is being sent again is not needed any more; nothing else would release its budget.
  if (isOf(session.resentAudio?.utterance, utterance)) dropResentAudio(step, session);
  session.running -= 1;
  for (const one of allOf(utterance)) {
    session.audioBytes -= one.audioBytes;
    one.audioBytes = 0;
  }
}

const isOf = (one: Utterance | undefined, other: Utterance): boolean =>
  one !== undefined && allOf(other).includes(one);

/** A node has received a job of it. */
function notePlaced(session: Session, utterance: Utterance): void {
  for (const one of allOf(utterance)) {
    if (one.isPlaced) continue;
    one.isPlaced = true;
    session.unplaced -= 1;
  }
}

/** A retried job passes the same stages again, and an utterance in several languages has several jobs; the client gets each event once. */
export function sendUiEventOnce(
  step: Step,
  session: Session,
  utterance: Utterance,
  event: UiEventName,
): void {
  const bit = 1 << UI_EVENTS.indexOf(event);
  const first = allOf(utterance)[0] ?? utterance;
  if ((first.sentUiEvents & bit) !== 0) return;
  first.sentUiEvents |= bit;
  sendUiEvent(step, session, utterance, event, utterance.acceptedAt);
}

/** From sending the current attempt to its acknowledgement. */
export function toNodeMs({ timeline, fence }: JobRecord): number | undefined {
  const ofAttempt = timeline.filter(({ attempt }) => attempt === fence?.attempt);
  const sent = ofAttempt.find(({ state }) => state === 'DISPATCHED');
  const acknowledged = ofAttempt.find(({ state }) => state === 'RUNNING');
  return sent === undefined || acknowledged === undefined ? undefined : acknowledged.at - sent.at;
}
