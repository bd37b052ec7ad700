/** Sends audio from the outbox to the scheduler, as fast as the pacing allows. */
import type { Cancel, SessionClock } from './clock.ts';
import type { Link } from './connection/link.ts';
import type { Outbox } from './outbox.ts';
import type { Frame } from './outbox-entry.ts';
import {
  applyBackpressure,
  type BackpressureAction,
  sent,
  unlimitedPace,
  waitMs,
  withoutBackpressure,
} from './pacing.ts';
import { type AudioSettings, audioMessage } from './session-messages.ts';

export interface Sender {
  /** Call it after any change: sends what may be sent now, and sets a timer for the rest. */
  pump(): void;
  applyBackpressure(action: BackpressureAction, resumeAfterMs: number | undefined): void;
  opened(isResumed: boolean, hasMoved: boolean): void;
  stop(): void;
}

/** How often a full socket is checked: it has no event for free space. */
const FULL_SOCKET_MS = 50;
/** More than a chunk's message has besides its audio. */
const CHUNK_FIELDS_BYTES = 512;

export function createSender(deps: {
  readonly clock: SessionClock;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly audio: AudioSettings;
  readonly maxSocketBytes: number;
  /** What is sent now would not reach the room in which it was said. */
  readonly isHeld: () => boolean;
  /** The scheduler would close the connection on this message, so it was not sent. */
  readonly onTooLong: (frame: Frame, messageBytes: number, maxBytes: number) => void;
  /** The outbox has nothing to send. */
  readonly onIdle: () => void;
}): Sender {
  const { clock, link, outbox } = deps;
  let pace = unlimitedPace(clock.now());
  let cancel: Cancel | undefined;

  function delayMs(now: number): number {
    const socketMs = link.bufferedBytes() > deps.maxSocketBytes ? FULL_SOCKET_MS : 0;
    return Math.max(waitMs(pace, now), outbox.blockedMs(now), socketMs);
  }

  function pump(): void {
    cancel?.();
    cancel = undefined;
    if (deps.isHeld() && outbox.hasFrames()) return;
    while (link.isOpen() && outbox.hasFrames()) {
      const now = clock.now();
      const delay = delayMs(now);
      if (delay > 0) {
        // An entry that waits for an outcome is sent when the outcome arrives.
        if (delay < Number.POSITIVE_INFINITY) cancel = clock.after(delay, pump);
        return;
      }
      const maxBytes = link.maxMessageBytes();
      const frame = outbox.take(now, Math.floor((maxBytes - CHUNK_FIELDS_BYTES) * 0.75));
      if (frame === undefined) return;
      const text = JSON.stringify(audioMessage(frame, link.sessionId() ?? '', deps.audio));
      const messageBytes = countUtf8(text);
      if (messageBytes > maxBytes) deps.onTooLong(frame, messageBytes, maxBytes);
      // If the socket is closing, the frame is lost and sent again: 'close' comes next.
      else link.sendText(text);
      pace = sent(pace, now);
    }
    if (link.isOpen()) deps.onIdle();
  }

  return {
    pump,
    applyBackpressure(action, resumeAfterMs) {
      pace = applyBackpressure(pace, action, resumeAfterMs, clock.now());
      pump();
    },
    opened(isResumed, hasMoved) {
      if (!isResumed || hasMoved) pace = withoutBackpressure(pace);
      outbox.opened(isResumed, hasMoved);
      pump();
    },
    stop: () => cancel?.(),
  };
}

/** Almost all of it is base64. */
const countUtf8 = (text: string): number => new TextEncoder().encode(text).length;
