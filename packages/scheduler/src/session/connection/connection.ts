/** Hot path: a client comes, goes and comes back, and a session ends. */

import type { SessionEvent } from '../event.ts';
import { noteChange } from '../handover/saved-state.ts';
import { sendOutcome } from '../outcomes/after-step.ts';
import { MIN_INTERVAL_MS } from '../outcomes/backpressure.ts';
import { acknowledge } from '../outcomes/delivery.ts';
import { resendAccepted, sendAccepted, stopCounting } from '../outcomes/progress.ts';
import { type Session, type Utterance, understands } from '../session.ts';
import { cutStream } from '../speech/accept-audio.ts';
import { discardOpenSegment, dropAudio } from '../speech/audio-budget.ts';
import { notePlayed } from '../speech/groups.ts';
import { count, type Step, send, sendUiEvent } from '../step-context.ts';

type Of<Kind extends SessionEvent['kind']> = Extract<SessionEvent, { kind: Kind }>;

export function attach(step: Step, session: Session, event: Of<'attached'>): void {
  const { link, opening, resumeToken, isResumed } = event;
  const hasMoved = event.hasMoved || needsResentAudio(session);
  const older = session.link;
  if (older !== undefined && older !== link) step.effects.push({ kind: 'replace', link: older });
  session.opening = opening;
  session.link = link;
  session.expiresAt = undefined;
  session.phase = session.phase === 'draining' ? 'open' : session.phase;
  cutStream(step, session, { kind: 'resumed' });
  const { speech, traceId, warning } = opening;
  const { audioFormat, sampleRate } = speech;
  // One that nobody knows of yet is written at once: it could not be resumed.
  noteChange(session, isResumed ? 'soon' : 'now');
  send(step, session, {
    kind: 'opened',
    traceId,
    audioFormat,
    sampleRate,
    resumeToken,
    isResumed,
    hasMoved,
    warning,
  });
  const { kept } = session.delivery;
  if (kept.length > 0) count(step, 'scheduler_session_results_redelivered_total', undefined, kept.length);
  for (const { utterance } of kept) resendAccepted(step, session, utterance);
  for (const utterance of session.delivery.waiting) resendAccepted(step, session, utterance);
  session.sentSeq = 0;
  if (understands(session, 'result_ack')) return;
  for (const delivered of kept) sendOutcome(step, session, delivered);
  // Who does not acknowledge has had them now.
  acknowledge(session.delivery, session.delivery.deliverySeq);
}

/** Speech that another instance has or had, and that this one may need. */
const needsResentAudio = ({ delivery }: Session): boolean =>
  delivery.waiting.some(({ isSettled, isAudioElsewhere }) => isAudioElsewhere && !isSettled);

/** Whoever can come back is waited for; jobs go on meanwhile. Nobody waits for those of the others. */
export function detach(step: Step, session: Session, { link }: Of<'detached'>) {
  if (session.link !== link) return;
  session.link = undefined;
  if (session.resumeDigest === undefined || session.phase === 'closing') return end(step, session, 'left');
  session.expiresAt = step.at + step.settings.resumeTtlMs;
  noteChange(session, 'soon');
  cutStream(step, session, { kind: 'suspended' });
}

/** The session is over, and with it what only it waited for. */
export function end(step: Step, session: Session, reason: string): void {
  if (session.phase === 'ended') return;
  session.phase = 'ended';
  session.unsaved = 'nothing';
  dropAudio(step, session);
  step.effects.push({ kind: 'end', reason, unsettled: stopCountingAll(step, session) });
}

/** Those without an outcome, which now count for nobody here. */
function stopCountingAll(step: Step, session: Session): readonly Utterance[] {
  const unsettled = session.delivery.waiting.filter(({ isSettled }) => !isSettled);
  for (const utterance of unsettled) stopCounting(step, session, utterance);
  return unsettled;
}

/** It goes on elsewhere, if anywhere: nothing of it is cancelled, and its client is not told about it any more. */
export function depart(step: Step, session: Session, { why }: Of<'depart'>): void {
  // Whoever hears of acceptances sends the rest again; of the others half a sentence is better than none.
  if (why === 'released' && !understands(session, 'utterance_accepted')) {
    cutStream(step, session, { kind: 'cut', reason: 'close' });
  }
  session.phase = 'ended';
  // What is known of it elsewhere is not ours to change any more.
  if (why !== 'released') unshare(session);
  dropAudio(step, session);
  for (const utterance of stopCountingAll(step, session)) step.effects.push({ kind: 'hand_over', utterance });
  if (session.link !== undefined) {
    step.effects.push({ kind: why === 'fenced' ? 'abandon' : 'replace', link: session.link });
  }
  step.effects.push({ kind: 'departed', reason: why === 'fenced' ? 'fenced' : 'moved' });
}

function unshare(session: Session): void {
  session.isShared = false;
  session.unsaved = 'nothing';
}

/** What was said so far is still translated; the answer comes with the last outcome. */
export function close(step: Step, session: Session): void {
  cutStream(step, session, { kind: 'cut', reason: 'close' });
  session.phase = 'closing';
  if (!session.isShared) return;
  // Nobody resumes it, so nothing waits for others to know.
  unshare(session);
  step.effects.push({ kind: 'remove_saved' });
  for (const utterance of session.delivery.waiting)
    if (utterance.isAdmitted) sendAccepted(step, session, utterance);
}

/** What was said so far is still translated here, unless the client says it again where it goes. */
export function drain(step: Step, session: Session, { reconnectAfterMs, limitMs }: Of<'drain'>) {
  if (session.phase !== 'open') return;
  session.phase = 'draining';
  // A cut here would make two of its sentence: it sends the rest elsewhere, and has an outcome for each half.
  if (continuesElsewhere(session)) discardOpenSegment(step, session);
  else cutStream(step, session, { kind: 'cut', reason: 'close' });
  if (understands(session, 'server_draining')) {
    // Where others can go on with it they have to know everything first.
    return session.isShared ? noteChange(session, 'now') : sendDraining(step, session, reconnectAfterMs);
  }
  if (session.sentPressure !== undefined && step.at - session.sentPressure.at < MIN_INTERVAL_MS) return;
  // It keeps what is spoken until its connection ends, and begins anew elsewhere.
  session.sentPressure = { action: 'PAUSE', at: step.at };
  send(step, session, { kind: 'pressure', action: 'PAUSE', resumeAfterMs: limitMs });
}

const continuesElsewhere = (session: Session): boolean =>
  session.isShared && understands(session, 'server_draining') && understands(session, 'utterance_accepted');

export function sendDraining(step: Step, session: Session, reconnectAfterMs: number): void {
  const isExpected = session.phase === 'draining' && understands(session, 'server_draining');
  if (isExpected) send(step, session, { kind: 'draining', reconnectAfterMs });
}

export function notePlayback(
  step: Step,
  session: Session,
  event: Of<'playback_started' | 'playback_ended'>,
): void {
  cutStream(step, session, event);
  const isEnd = event.kind === 'playback_ended';
  if (isEnd) session.groups = notePlayed(session.groups, event.groupId, step.at);
  const played = session.playable.get(event.groupId);
  if (played === undefined) return;
  sendUiEvent(step, session, played, isEnd ? 'TTS_PLAY_ENDED' : 'TTS_PLAY_STARTED', played.acceptedAt);
}
