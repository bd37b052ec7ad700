/** Hot path: the budget for audio of a session that does not belong to a job yet. */
import type { Session } from '../session.ts';
import { count, type Step } from '../step-context.ts';

/** False: the budget is exhausted, and nothing was claimed. */
export function claimAudioBudget(step: Step, session: Session, bytes: number): boolean {
  if (bytes === 0) return true;
  if (session.audioBytes + bytes > step.settings.maxAudioBytes) return false;
  const claimed = step.audio.claim(session.tenantId, bytes);
  if (claimed === 'tenant_full') count(step, 'scheduler_tenant_refused_total', { limit: 'audio' });
  if (claimed !== 'claimed') return false;
  session.audioBytes += bytes;
  return true;
}

export function releaseBudget(step: Step, session: Session, bytes: number): void {
  session.audioBytes -= bytes;
  step.audio.unclaim(session.tenantId, bytes);
}

/** The session ended: its open audio becomes no job. */
export function dropAudio(step: Step, session: Session): void {
  dropResentAudio(step, session);
  if (dropSegment(step, session))
    count(step, 'scheduler_session_messages_dropped_total', { reason: 'audio_of_ended_session' });
}

/** Discards audio that the client will send again, here or to another instance. */
export function discardOpenSegment(step: Step, session: Session): void {
  dropResentAudio(step, session);
  if (!dropSegment(step, session)) return;
  session.draft = undefined;
  session.lastSeq = session.sealedSeq;
}

function dropSegment(step: Step, session: Session): boolean {
  const open = session.segmentation.segment;
  if (open === undefined) return false;
  session.segmentation = { ...session.segmentation, segment: undefined, sealing: undefined };
  releaseBudget(step, session, open.bytes);
  return true;
}

/** Discards an utterance that was sent again incompletely. */
export function dropResentAudio(step: Step, session: Session): void {
  const { resentAudio } = session;
  if (resentAudio === undefined) return;
  session.resentAudio = undefined;
  releaseBudget(step, session, resentAudio.bytes);
}
