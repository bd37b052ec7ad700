/** Hot path: one step of a session. Synchronous; changes only the session and returns the effects to run. */

import {
  attach,
  close,
  depart,
  detach,
  drain,
  end,
  erase,
  notePlayback,
  sendDraining,
} from './connection/connection.ts';
import type { SessionEffect, SessionEvent } from './event.ts';
import { noteChange } from './handover/saved-state.ts';
import { acknowledgeUpTo, finishStep } from './outcomes/after-step.ts';
import {
  noteDispatched,
  noteGone,
  noteMove,
  notePartial,
  noteRecord,
  noteSaved,
  sendAccepted,
  unbindFailed,
} from './outcomes/progress.ts';
import { noteParts, noteRecognised, settlePart, splitUtterance } from './outcomes/renditions.ts';
import type { Session } from './session.ts';
import { cutStream, takeChunk, takeUtterance } from './speech/accept-audio.ts';
import { noteInterim } from './speech/interim.ts';
import { excludeStall } from './speech/segmentation.ts';
import { type Step, type StepTools, send } from './step-context.ts';

export function stepSession(
  session: Session,
  event: SessionEvent,
  at: number,
  tools: StepTools,
): readonly SessionEffect[] {
  if (session.phase === 'ended') return NOTHING;
  const step: Step = { ...tools, at, effects: [] };
  session.segmentation = excludeStall(session.segmentation, at, tools.settings.segmentation);
  if (event.kind === 'time_passed') passTime(step, session);
  else take(step, session, event);
  finishStep(step, session);
  return step.effects;
}

const NOTHING: readonly SessionEffect[] = [];

function passTime(step: Step, session: Session) {
  if (session.expiresAt !== undefined && session.expiresAt <= step.at) return end(step, session, 'expired');
  cutStream(step, session, TIME_PASSED);
}

const TIME_PASSED = { kind: 'time_passed' } as const;

function take(step: Step, session: Session, event: Exclude<SessionEvent, { kind: 'time_passed' }>) {
  switch (event.kind) {
    case 'chunk':
      return takeChunk(step, session, event);
    case 'utterance':
      return takeUtterance(step, session, event);
    case 'playback_started':
    case 'playback_ended':
      return notePlayback(step, session, event);
    case 'heartbeat':
      return send(step, session, { kind: 'heartbeat', at: step.at });
    case 'close':
      return close(step, session);
    case 'close_ordered':
      session.isCloseOrdered = true;
      return close(step, session);
    case 'acknowledged':
      // A client that resumes reports the last number it received, so this save is not urgent.
      noteChange(session, 'later');
      unbindFailed(session, event.deliverySeq);
      return acknowledgeUpTo(step, session, event.deliverySeq);
    case 'attached':
      return attach(step, session, event);
    case 'evicted':
      return end(step, session, 'evicted');
    case 'erased':
      return erase(step, session, event);
    case 'detached':
      return detach(step, session, event);
    case 'drain':
      return drain(step, session, event);
    case 'ready_to_move':
      return sendDraining(step, session, event.reconnectAfterMs);
    case 'depart':
      return depart(step, session, event);
    case 'saved':
      return noteSaved(step, session, event);
    case 'job_read':
      return noteRecord(step, session, event.utterance, event.job);
    case 'job_gone':
      return noteGone(step, session, event.utterance);
    case 'admitted':
      return sendAccepted(step, session, event.utterance);
    case 'dispatched':
      return noteDispatched(step, session, event.utterance, event.outcome);
    case 'job_moved':
      return noteMove(step, session, event.utterance, event.job);
    case 'partial':
      return notePartial(step, session, event.utterance, event);
    case 'interim_text':
      return noteInterim(step, session, event);
    case 'split':
      return splitUtterance(step, session, event);
    case 'recognised':
      return noteRecognised(step, session, event);
    case 'parts_moved':
      return noteParts(step, session, event);
    case 'part_settled':
      return settlePart(step, session, event);
  }
}
