/** The session object of an application: it outlives its connections. */
import type { Listener } from './listeners.ts';
import type { Rooms } from './rooms/room.ts';
import type { SessionEnd, SessionEventName } from './session-events.ts';
import type { UtteranceOptions } from './session-options.ts';
import type { SessionStats } from './session-stats.ts';

/**
 * connecting → open ⇄ reconnecting → closing → closed. `failed`: refused permanently. The first three accept audio
 * alike; audio that cannot be sent yet is kept.
 */
export type SessionState = 'connecting' | 'open' | 'reconnecting' | 'closing' | 'closed' | 'failed';

export interface Session {
  readonly state: SessionState;
  /** The id that the scheduler assigned last. */
  readonly sessionId: string | undefined;
  /** Audio without an outcome. */
  readonly unsettledBytes: number;
  /** Several speakers, each listener in its own language. A session is in one room at most. */
  readonly rooms: Rooms;
  /**
   * The next piece of speech, about 20 to 250 ms of it. The scheduler cuts utterances at pauses. False: not accepted,
   * because too much audio waits (with an `overflow` event) or the session has ended.
   */
  sendAudio(bytes: Uint8Array): boolean;
  /** The speaker has finished: translate now. Returns the request id of the utterance; undefined if there was no audio. */
  endUtterance(): string | undefined;
  /** A whole utterance at once. Returns its request id; undefined: not accepted, as in sendAudio(). */
  sendUtterance(bytes: Uint8Array, options?: UtteranceOptions): string | undefined;
  /** A result is being played: meanwhile pauses do not end utterances. False: there is no connection. */
  playbackStarted(groupId: string, traceId: string): boolean;
  playbackEnded(groupId: string, traceId: string): boolean;
  /** What this session measured so far: outcomes, resumes, losses, and the parts of the latency. */
  getStats(): SessionStats;
  /** Resolves when all audio has its outcome, or the session has ended. */
  settled(): Promise<void>;
  /**
   * Ends the last utterance, sends the waiting audio and closes the session. Resolves when the scheduler has
   * confirmed, at the latest after `closeTimeoutMs`. To wait for the translations, await settled() first.
   */
  close(reason?: string): Promise<SessionEnd>;
  /** Returns a function that removes the listener. */
  on<Name extends SessionEventName>(name: Name, listener: Listener<Name>): () => void;
}
