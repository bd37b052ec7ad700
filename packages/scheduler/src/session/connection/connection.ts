/** Hot path: a client connects, disconnects and resumes, and a session ends. */

import type { SessionEvent } from '../event.ts';
import { noteChange } from '../handover/saved-state.ts';
import { acknowledgeUpTo, sendOutcome } from '../outcomes/after-step.ts';
import { MIN_INTERVAL_MS } from '../outcomes/backpressure.ts';
import { eraseOutcomes } from '../outcomes/delivery.ts';
import { resendAccepted, sendAccepted, stopCountingAll } from '../outcomes/progress.ts';
import { allOf, type Session, type Utterance, understands } from '../session.ts';
import { cutStream } from '../speech/accept-audio.ts';
import { discardOpenSegment, dropAudio } from '../speech/audio-budget.ts';
import { notePlayed } from '../speech/groups.ts';
import { count, type Step, send, sendUiEvent } from '../step-context.ts';
import { isAdmitted } from '../utterance-state.ts';

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
  // A new session is saved at once: without a saved state it cannot be resumed elsewhere.
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
    targets: speech.targets,
  });
  const { kept } = session.delivery;
  if (kept.length > 0) count(step, 'scheduler_session_results_redelivered_total', undefined, kept.length);
  for (const { utterance } of kept) resendAccepted(step, session, utterance);
  for (const utterance of session.delivery.waiting) resendAccepted(step, session, utterance);
  session.sentSeq = 0;
  if (understands(session, 'result_ack')) return;
  for (const delivered of kept) sendOutcome(step, session, delivered);
  // Without acknowledgements, sent counts as received.
  acknowledgeUpTo(step, session, session.delivery.deliverySeq);
}

/** Another instance has or had audio that this one may need. */
const needsResentAudio = ({ delivery }: Session): boolean =>
  delivery.waiting.some(({ isSettled, isAudioElsewhere }) => isAudioElsewhere && !isSettled);

/** A session that can be resumed waits for its client, and its jobs continue. Any other session ends. */
export function detach(step: Step, session: Session, { link }: Of<'detached'>) {
  if (session.link !== link) return;
  session.link = undefined;
  if (session.resumeDigest === undefined || session.phase === 'closing') return end(step, session, 'left');
  session.expiresAt = step.at + step.settings.resumeTtlMs;
  noteChange(session, 'soon');
  cutStream(step, session, { kind: 'suspended' });
}

/** Ends the session; the jobs that only it waits for are cancelled. */
export function end(step: Step, session: Session, reason: string): void {
  if (session.phase === 'ended') return;
  session.phase = 'ended';
  session.unsaved = 'nothing';
  dropAudio(step, session);
  step.effects.push({ kind: 'end', reason, unsettled: stopCountingUnsettled(step, session) });
}

/** A client that was waiting gets no outcome of an erased job. */
export function erase(step: Step, session: Session, { jobId }: Of<'erased'>): void {
  if (jobId === undefined) {
    send(step, session, { kind: 'closed', isOrdered: true });
    end(step, session, 'erased');
    return;
  }
  eraseOutcomes(
    session.delivery,
    ({ jobId: own, rendition }) => own === jobId || rendition?.plan.jobIds.has(jobId) === true,
  );
  session.groups = session.groups.map((group) => ({ ...group, context: '' }));
  noteChange(session, 'now');
}

/** Returns the utterances without an outcome, which no longer count on this instance. */
function stopCountingUnsettled(step: Step, session: Session): readonly Utterance[] {
  const unsettled = session.delivery.waiting.filter(({ isSettled }) => !isSettled);
  for (const utterance of unsettled) {
    const isCounted = allOf(utterance).find(({ isSettled }) => !isSettled) !== utterance;
    if (!isCounted) stopCountingAll(step, session, utterance);
  }
  return unsettled;
}

/** The session leaves this instance: nothing of it is cancelled, and its client gets no further message from here. */
export function depart(step: Step, session: Session, { why }: Of<'depart'>): void {
  // A client that gets acceptances sends the open audio again. For the others, half a sentence is better than none.
  if (why === 'released' && !understands(session, 'utterance_accepted')) {
    cutStream(step, session, { kind: 'cut', reason: 'close' });
  }
  session.phase = 'ended';
  // Only the owner may change the saved state.
  if (why !== 'released') unshare(session);
  dropAudio(step, session);
  for (const utterance of stopCountingUnsettled(step, session))
    step.effects.push({ kind: 'hand_over', utterance });
  if (session.link !== undefined) {
    step.effects.push({ kind: why === 'fenced' ? 'abandon' : 'replace', link: session.link });
  }
  step.effects.push({ kind: 'departed', reason: why === 'fenced' ? 'fenced' : 'moved' });
}

function unshare(session: Session): void {
  session.isShared = false;
  session.unsaved = 'nothing';
}

/** The audio so far is still translated; `closed` follows the last outcome. */
export function close(step: Step, session: Session): void {
  cutStream(step, session, { kind: 'cut', reason: 'close' });
  session.phase = 'closing';
  if (!session.isShared) return;
  // It cannot be resumed, so nothing waits for saves any more.
  unshare(session);
  step.effects.push({ kind: 'remove_saved' });
  for (const utterance of session.delivery.waiting)
    if (isAdmitted(utterance)) sendAccepted(step, session, utterance);
}

/** The audio so far is still translated here, unless the client sends it again to the next instance. */
export function drain(step: Step, session: Session, { reconnectAfterMs, limitMs }: Of<'drain'>) {
  if (session.phase !== 'open') return;
  session.phase = 'draining';
  // A cut here would split the sentence: the client sends the rest elsewhere and would get an outcome for each half.
  if (continuesElsewhere(session)) discardOpenSegment(step, session);
  else cutStream(step, session, { kind: 'cut', reason: 'close' });
  if (understands(session, 'server_draining')) {
    // The state is saved before `server_draining` is sent, so that the next instance has all of it.
    return session.isShared ? noteChange(session, 'now') : sendDraining(step, session, reconnectAfterMs);
  }
  if (session.sentPressure !== undefined && step.at - session.sentPressure.at < MIN_INTERVAL_MS) return;
  // The client buffers its audio until the connection ends, and opens a new session elsewhere.
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
