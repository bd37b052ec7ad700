/** Hot path: the progress of an utterance in several languages: its jobs serve several outcomes, each with an end of its own. */
import { type PartOutcome, planOfJob, wantedOfJob } from '../../domain/plan.ts';
import type { PlanEvent } from '../event.ts';
import { noteChange } from '../handover/saved-state.ts';
import { allOf, type Session, type Utterance } from '../session.ts';
import { noteText } from '../speech/groups.ts';
import { planName } from '../speech/new-utterance.ts';
import { type Step, send } from '../step-context.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import {
  describeFailure,
  fail,
  noteProgress,
  sendAccepted,
  sendUiEventOnce,
  settleUtterance,
  toNodeMs,
} from './progress.ts';

type Of<Kind extends PlanEvent['kind']> = Extract<PlanEvent, { kind: Kind }>;

/** No node has all stages of its job: it becomes a plan with one outcome. */
export function splitUtterance(step: Step, session: Session, { utterance, request }: Of<'split'>): void {
  const wanted = wantedOfJob(request);
  if (utterance.isSettled || wanted === undefined) return;
  const { requestId, fingerprint, spec } = request;
  const binding =
    requestId === undefined || fingerprint === undefined ? undefined : { requestId, fingerprint };
  const name = planName(session, utterance.index, binding);
  utterance.rendition = {
    language: wanted.language,
    kind: wanted.isVoiceWanted ? 'voice' : 'text',
    isWhole: true,
    plan: {
      name,
      source: spec.sourceLanguage,
      utterances: [utterance],
      jobIds: new Set(),
      undelivered: 1,
      hasMissing: false,
    },
    jobId: undefined,
    hasFailed: false,
  };
  noteChange(session, 'now');
  const deadlineAt = utterance.acceptedAt + step.settings.jobDeadlineMs;
  step.effects.push({
    kind: 'plan',
    utterance,
    request: planOfJob(request, { name, fingerprint: name, wanted: [wanted], deadlineAt }),
  });
}

/** The source text is final, before any translation. */
export function noteRecognised(step: Step, session: Session, { utterance, text }: Of<'recognised'>): void {
  if (text === '' || allOf(utterance).every(({ isSettled }) => isSettled)) return;
  sendUiEventOnce(step, session, utterance, 'ASR_FINAL');
  send(step, session, { kind: 'partial', about: utterance, text, isFinal: true });
  if (!utterance.wasSettledBefore)
    session.groups = noteText(session.groups, utterance.groupId, text, step.settings.group);
}

export function noteParts(step: Step, session: Session, { utterances, job }: Of<'parts_moved'>): void {
  for (const utterance of utterances) {
    utterance.rendition?.plan.jobIds.add(job.jobId);
    if (!utterance.isSettled) noteProgress(step, session, utterance, job);
  }
}

export function settlePart(step: Step, session: Session, { utterance, outcome }: Of<'part_settled'>): void {
  const { rendition } = utterance;
  if (utterance.isSettled || rendition === undefined) return;
  const { job } = outcome;
  if (job !== undefined) {
    rendition.jobId = job.jobId;
    rendition.plan.jobIds.add(job.jobId);
    noteProgress(step, session, utterance, job);
  }
  sendAccepted(step, session, utterance);
  if (outcome.kind === 'failed') {
    failPart(step, session, utterance, outcome);
    return;
  }
  const result = resultOf(outcome);
  if (result.kind === 'result' && (rendition.kind === 'text' || rendition.isWhole))
    sendUiEventOnce(step, session, utterance, 'NMT_DONE');
  settleUtterance(step, session, utterance, result);
}

const resultOf = ({ result, job }: Extract<PartOutcome, { kind: 'result' }>): Outcome =>
  outcomeOf(result, job && toNodeMs(job));

/** The client gets one error for a text and the voice that needs it. */
function failPart(
  step: Step,
  session: Session,
  utterance: Utterance,
  { code, message, hint, reasons = [], retryAfterMs }: Extract<PartOutcome, { kind: 'failed' }>,
): void {
  const { rendition } = utterance;
  if (rendition === undefined) return;
  const isKnown = rendition.plan.utterances.some(
    ({ rendition: other }) => other?.language === rendition.language && other.hasFailed,
  );
  if (isKnown) {
    settleUtterance(step, session, utterance, { kind: 'missing', reason: 'job_failed' });
    return;
  }
  rendition.hasFailed = true;
  const described = describeFailure(
    session,
    // For the clients of sessions both say: try again later.
    code === 'ALL_CANDIDATES_FULL_OR_FAILED' ? 'NO_AVAILABLE_NODE' : code,
  );
  fail(step, session, utterance, described.code, message, {
    hint: hint ?? described.hint,
    details: {
      reason: code.toLowerCase(),
      reasons: reasons.map(({ reason, count }) => ({ reason, count })),
      ...(typeof retryAfterMs === 'number' && { retry_after_ms: retryAfterMs }),
    },
  });
}
