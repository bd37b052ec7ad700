/**
 * Hot path after a handover: a client sends audio again that another instance accepted, and it is dispatched again under the same
 * request id. So a job whose audio was lost with its instance gets it back, and a job that was never recorded is recorded; no job is
 * created twice.
 */

import type { Chunk, GivenUtterance } from '../event.ts';
import { resendAccepted } from '../outcomes/progress.ts';
import { allOf, type Session, type Utterance } from '../session.ts';
import type { Step } from '../step-context.ts';
import { claimAudioBudget, dropResentAudio } from './audio-budget.ts';
import { bindingName, fingerprintOf } from './binding.ts';
import { effectOf, WHOLE_PIPELINE } from './build-job.ts';
import { choosePool } from './preferred-pool.ts';

type Speech = Pick<GivenUtterance, 'speech' | 'audio' | 'source' | 'pipeline' | 'isManualCut'>;

/** A whole utterance. False: its audio is not needed. */
export function takeResentUtterance(
  step: Step,
  session: Session,
  utterance: Utterance,
  given: GivenUtterance,
): boolean {
  const { requestId } = utterance;
  const bytes = given.audio?.length ?? 0;
  // Of several outcomes, one that is open.
  const open = allOf(utterance).find(needsAudio);
  if (open === undefined || requestId === undefined) return false;
  if (session.audioBytes + bytes > step.settings.maxAudioBytes) return false;
  session.audioBytes += bytes;
  dispatchAgain(step, session, open, given, requestId);
  resendAccepted(step, session, utterance);
  return true;
}

/** Only once, and only while it has no outcome. */
const needsAudio = ({ isAudioElsewhere, isSettled }: Utterance): boolean => isAudioElsewhere && !isSettled;

/**
 * A repeated chunk. The chunks of one utterance are used only in order and from its first one on. False: it is not needed.
 */
export function takeResentChunk(step: Step, session: Session, { seq, audio }: Chunk): boolean {
  const utterance = session.delivery.waiting.find(
    ({ isSettled, firstSeq = Number.POSITIVE_INFINITY, lastSeq = -1 }) =>
      !isSettled && firstSeq <= seq && seq <= lastSeq,
  );
  const { requestId, firstSeq } = utterance ?? {};
  const isOurs = utterance !== undefined && needsAudio(utterance) && audio !== undefined;
  if (!isOurs || requestId === undefined || firstSeq === undefined) return false;
  if (seq === firstSeq) begin(step, session, utterance);
  const { resentAudio } = session;
  if (resentAudio?.utterance !== utterance || seq <= resentAudio.lastSeq) return false;
  if (!claimAudioBudget(step, session, audio.length)) {
    dropResentAudio(step, session);
    return false;
  }
  resentAudio.chunks.push(audio);
  resentAudio.bytes += audio.length;
  resentAudio.lastSeq = seq;
  if (seq === utterance.lastSeq) finish(step, session, utterance, bindingName(requestId, firstSeq));
  return true;
}

function begin(step: Step, session: Session, utterance: Utterance): void {
  dropResentAudio(step, session);
  session.resentAudio = { utterance, chunks: [], bytes: 0, lastSeq: -1 };
}

function finish(step: Step, session: Session, utterance: Utterance, binding: string): void {
  const { resentAudio } = session;
  if (resentAudio === undefined) return;
  session.resentAudio = undefined;
  step.audio.unclaim(session.tenantId, resentAudio.bytes);
  const audio = Buffer.concat(resentAudio.chunks);
  const source = { kind: 'held', bytes: audio.length } as const;
  const { speech } = session.opening;
  dispatchAgain(step, session, utterance, { speech, audio, source, isManualCut: true }, binding);
}

/** Its bytes already count against the session. */
function dispatchAgain(
  step: Step,
  session: Session,
  utterance: Utterance,
  resent: Speech,
  requestId: string,
): void {
  const { settings } = step;
  for (const one of allOf(utterance)) one.isAudioElsewhere = false;
  utterance.audioBytes = resent.audio?.length ?? 0;
  session.pool = choosePool(session.pool, session, resent.speech.languages, step.pools);
  const whole = {
    speech: resent.speech,
    pipeline: resent.pipeline ?? WHOLE_PIPELINE,
    source: resent.source,
    audio: resent.audio,
    cut: resent.isManualCut ? ('manual' as const) : ('pause' as const),
    paddingMs: resent.isManualCut ? settings.paddingManualMs : settings.paddingAutoMs,
    turnId: undefined,
    contextText: undefined,
    binding: { requestId, fingerprint: fingerprintOf(step, resent) },
    poolId: session.pool.poolId,
    waitMs: settings.pendingTimeoutMs,
  };
  // Without the job id: the request id finds the job, and a job that a failover lost must not get a successor with the same id.
  const effect = effectOf(step, session, utterance, whole);
  if (effect.kind !== 'dispatch') step.effects.push(effect);
  else {
    const { jobId: _, ...request } = effect.request;
    step.effects.push({ ...effect, request });
  }
}
