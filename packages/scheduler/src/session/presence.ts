/** Hot path: a client comes, goes and comes back, and a session ends. */
import { acknowledge } from './delivery.ts';
import { tellOutcome } from './flow.ts';
import { notePlayed } from './groups.ts';
import { cutStream } from './intake.ts';
import { APART_MS } from './pressure.ts';
import { announceAgain, letGo } from './progress.ts';
import { type Session, understands } from './session.ts';
import type { SessionEvent } from './session-event.ts';
import { count, type Step, tell, tellUi } from './step-context.ts';

type Of<Kind extends SessionEvent['kind']> = Extract<SessionEvent, { kind: Kind }>;

export function attach(step: Step, session: Session, event: Of<'attached'>): void {
  const { link, opening, resumeToken, isResumed } = event;
  const older = session.link;
  if (older !== undefined && older !== link) step.effects.push({ kind: 'replace', link: older });
  session.opening = opening;
  session.link = link;
  session.expiresAt = undefined;
  session.phase = session.phase === 'draining' ? 'open' : session.phase;
  cutStream(step, session, { kind: 'let_go' });
  const { speech, traceId, warning } = opening;
  const { audioFormat, sampleRate } = speech;
  tell(step, session, { kind: 'opened', traceId, audioFormat, sampleRate, resumeToken, isResumed, warning });
  const { kept } = session.delivery;
  if (kept.length > 0) count(step, 'scheduler_session_results_redelivered_total', undefined, kept.length);
  for (const { place } of kept) announceAgain(step, session, place);
  for (const utterance of session.delivery.waiting) announceAgain(step, session, utterance);
  session.toldSeq = 0;
  if (understands(session, 'result_ack')) return;
  for (const delivered of kept) tellOutcome(step, session, delivered);
  // Who does not acknowledge has had them now.
  acknowledge(session.delivery, session.delivery.deliverySeq);
}

/** Whoever can come back is waited for; jobs go on meanwhile. Nobody waits for those of the others. */
export function detach(step: Step, session: Session, { link }: Of<'detached'>) {
  if (session.link !== link) return;
  session.link = undefined;
  if (session.resumeDigest === undefined || session.phase === 'closing') return end(step, session, 'left');
  session.expiresAt = step.at + step.settings.resumeTtlMs;
  cutStream(step, session, { kind: 'held' });
}

/** The session is over, and with it what only it waited for. */
export function end(step: Step, session: Session, reason: string): void {
  if (session.phase === 'ended') return;
  session.phase = 'ended';
  dropAudio(step, session);
  for (const utterance of session.delivery.waiting) {
    if (utterance.isSettled) continue;
    letGo(session, utterance);
    const message = 'the session that waited for it ended';
    step.effects.push({ kind: 'cancel', utterance, code: 'SESSION_CLOSED', message });
  }
  step.effects.push({ kind: 'end', reason });
}

function dropAudio(step: Step, session: Session): void {
  const open = session.segmentation.segment;
  if (open === undefined) return;
  session.segmentation = { ...session.segmentation, segment: undefined, sealing: undefined };
  session.audioBytes -= open.bytes;
  step.audio.unclaim(open.bytes);
  count(step, 'scheduler_session_messages_dropped_total', { reason: 'audio_of_ended_session' });
}

/** What was said so far is still translated; the answer comes with the last outcome. */
export function close(step: Step, session: Session): void {
  cutStream(step, session, { kind: 'cut', reason: 'close' });
  session.phase = 'closing';
}

/** What was said so far is still translated here. */
export function drain(step: Step, session: Session, { reconnectAfterMs, limitMs }: Of<'drain'>) {
  if (session.phase !== 'open') return;
  session.phase = 'draining';
  cutStream(step, session, { kind: 'cut', reason: 'close' });
  if (understands(session, 'server_draining')) {
    return tell(step, session, { kind: 'draining', reconnectAfterMs });
  }
  if (session.told !== undefined && step.at - session.told.at < APART_MS) return;
  // It keeps what is spoken until its connection ends, and begins anew elsewhere.
  session.told = { action: 'PAUSE', at: step.at };
  tell(step, session, { kind: 'pressure', action: 'PAUSE', resumeAfterMs: limitMs });
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
  tellUi(step, session, played, isEnd ? 'TTS_PLAY_ENDED' : 'TTS_PLAY_STARTED', played.acceptedAt);
}
