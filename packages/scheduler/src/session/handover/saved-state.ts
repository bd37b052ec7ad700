/** Hot path: the saved state of a session, which other instances resume from, and the session rebuilt from it. Pure. */

import { AUTO } from '../../domain/language.ts';
import type { PlanPart } from '../../domain/plan.ts';
import type { SavedSession, SavedUtterance } from '../../ports/session-store.ts';
import { NEVER, NO_WORK, settle } from '../outcomes/delivery.ts';
import { MISSING_REASONS, type MissingReason, type Outcome } from '../outcomes/outcome.ts';
import {
  allOf,
  createSession,
  type Opening,
  type Session,
  type Unsaved,
  type Utterance,
} from '../session.ts';
import { joinPlan } from '../speech/new-utterance.ts';

/** The saved state contains the utterance and its job id, so another instance would give it the same number. */
const isJobNameSaved = (session: Session, { jobId, savedJobId }: Utterance): boolean =>
  !session.isShared || savedJobId === jobId;

/**
 * Whether its outcome may be delivered: another instance would deliver the same one. A result is in its job's record. A missing
 * outcome is decided by the session, so it must be saved first: the job may still produce a result.
 */
export const isRecoverable = (session: Session, utterance: Utterance): boolean =>
  isJobNameSaved(session, utterance) &&
  (!session.isShared || utterance.isMissingSaved || !hasMissingOutcome(utterance));

export const hasMissingOutcome = ({ outcome }: Utterance): boolean => outcome?.kind === 'missing';

/** Notes a change to be saved: `now` if a client waits for it, `later` if a new owner would find it out without the save. */
export function noteChange(session: Session, urgency: Exclude<Unsaved, 'nothing'>): void {
  if (session.isShared && URGENCIES.indexOf(urgency) > URGENCIES.indexOf(session.unsaved))
    session.unsaved = urgency;
}

const URGENCIES: readonly Unsaved[] = ['nothing', 'later', 'soon', 'now'];

export function savedOf(session: Session): SavedSession {
  const { delivery } = session;
  return {
    sessionId: session.sessionId,
    revision: session.revision,
    tenantId: session.tenantId,
    resumeDigest: session.resumeDigest ?? '',
    openedAt: session.openedAt,
    nextIndex: session.nextIndex,
    lastSeq: session.sealedSeq,
    deliverySeq: (delivery.kept[0]?.deliverySeq ?? delivery.deliverySeq + 1) - 1,
    utterances: [
      ...delivery.kept.map(({ utterance, outcome }) => savedUtterance(utterance, outcome)),
      ...delivery.waiting.map((utterance) => savedUtterance(utterance, utterance.outcome)),
    ],
    groups: session.groups,
  };
}

const savedUtterance = (utterance: Utterance, outcome: Outcome | undefined): SavedUtterance => ({
  index: utterance.index,
  jobId: utterance.jobId,
  traceId: utterance.traceId,
  requestId: utterance.requestId,
  groupId: utterance.groupId,
  partIndex: utterance.partIndex,
  firstSeq: utterance.firstSeq,
  lastSeq: utterance.lastSeq,
  acceptedAt: utterance.acceptedAt,
  settled: outcome && (outcome.kind === 'missing' ? { missing: outcome.reason } : {}),
  rendition: utterance.rendition && {
    plan: utterance.rendition.plan.name,
    source: utterance.rendition.plan.source,
    language: utterance.rendition.language,
    kind: utterance.rendition.kind,
    isWhole: utterance.rendition.isWhole,
  },
});

/** Distance between the revisions of two owners: late saves of the previous owner must not look newer. */
const REVISIONS_APART = 1_000;

/**
 * No job record has been read yet: every utterance without a saved missing outcome waits, also the delivered ones, and gets its old
 * number again. `skipped`: indexes that the previous owner may have used without saving them.
 */
export function rebuild(
  saved: SavedSession,
  opening: Opening,
  given: { readonly at: number; readonly skipped: number },
): Session {
  const session = createSession(saved.sessionId, opening, {
    at: saved.openedAt,
    firstIndex: saved.nextIndex + given.skipped,
    resumeDigest: saved.resumeDigest,
    isShared: true,
  });
  session.revision = saved.revision + REVISIONS_APART;
  session.lastSeq = saved.lastSeq;
  session.sealedSeq = saved.lastSeq;
  session.groups = saved.groups.map((group) => ({ ...group, playedAt: group.playedAt }));
  // There are no more turns than utterances; a new turn must not continue an old one.
  session.segmentation = { ...session.segmentation, turn: session.nextIndex };
  const { receivedSeq = 0 } = opening.resume ?? {};
  // Outcomes that the client received are final.
  const unreceived = saved.utterances.slice(Math.max(0, receivedSeq - saved.deliverySeq));
  // The client may have received more than the saved state contains: the next number must be beyond that.
  session.delivery.deliverySeq = Math.max(
    receivedSeq,
    saved.deliverySeq + saved.utterances.length - unreceived.length,
  );
  session.savedSeq = session.delivery.deliverySeq;
  for (const utterance of rebuiltUtterances(unreceived)) {
    session.delivery.waiting.push(utterance);
    if (utterance.requestId !== undefined && utterance.firstSeq === undefined)
      session.requests.set(utterance.requestId, utterance);
  }
  for (const [at, utterance] of [...session.delivery.waiting].entries()) {
    const missing = unreceived[at]?.settled?.missing;
    if (missing !== undefined)
      settle(session.delivery, utterance, { kind: 'missing', reason: reasonOf(missing) }, given.at);
  }
  session.running = session.delivery.waiting.filter(isFirstUnsettled).length;
  return session;
}

/** Of an utterance in several languages, the first outcome that is still open. */
const isFirstUnsettled = (utterance: Utterance): boolean =>
  allOf(utterance).find(({ isSettled }) => !isSettled) === utterance;

/** The outcomes of one utterance share their plan again. */
function rebuiltUtterances(saved: readonly SavedUtterance[]): readonly Utterance[] {
  const plans = new Map<string, { part: PlanPart; utterance: Utterance; at: number }[]>();
  const rebuilt = saved.map((one, at) => {
    const utterance = rebuiltUtterance(one);
    const { rendition: part } = one;
    if (part !== undefined) plans.set(part.plan, [...(plans.get(part.plan) ?? []), { part, utterance, at }]);
    return utterance;
  });
  for (const [name, parts] of plans) {
    const source = saved[parts[0]?.at ?? 0]?.rendition?.source ?? AUTO;
    for (const [nth, utterance] of joinPlan({ name, source }, parts).entries())
      rebuilt[parts[nth]?.at ?? 0] = utterance;
  }
  return rebuilt;
}

const rebuiltUtterance = (saved: SavedUtterance): Utterance => ({
  index: saved.index,
  jobId: saved.jobId,
  traceId: saved.traceId,
  requestId: saved.requestId,
  groupId: saved.groupId,
  partIndex: saved.partIndex,
  firstSeq: saved.firstSeq,
  lastSeq: saved.lastSeq,
  startedAt: saved.acceptedAt,
  acceptedAt: saved.acceptedAt,
  audioBytes: 0,
  // A settled utterance was accepted. For the others the job record decides.
  acceptance: saved.settled === undefined ? 'received' : 'announced',
  watch: 'watched',
  savedJobId: saved.jobId,
  isMissingSaved: saved.settled?.missing !== undefined,
  isAudioElsewhere: true,
  wasSettledBefore: saved.settled !== undefined,
  isPlaced: true,
  nodeId: undefined,
  sentUiEvents: 0,
  isSettled: false,
  outcome: undefined,
  readyAt: 0,
  work: NO_WORK,
  // The plan reads the records of its jobs itself.
  recordReadAt: saved.rendition === undefined ? NEVER : undefined,
});

/** Another version may have written a reason that this one does not know. */
const reasonOf = (text: string): MissingReason =>
  MISSING_REASONS.find((reason) => reason === text) ?? 'job_failed';
