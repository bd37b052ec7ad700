/** What an application holds in its hands: a session that outlives its connections. */
import type { Listener } from './listeners.ts';
import type { SessionEnd, SessionEventName } from './session-events.ts';
import type { UtteranceOptions } from './session-options.ts';

/**
 * connecting → open ⇄ reconnecting → closing → closed. `failed`: refused for good.
 * Audio is taken in the first three alike; what cannot be sent yet is kept.
 */
export type SessionState = 'connecting' | 'open' | 'reconnecting' | 'closing' | 'closed' | 'failed';

export interface Session {
  readonly state: SessionState;
  /** As the scheduler named it last. */
  readonly sessionId: string | undefined;
  /** Audio that was given and has no outcome yet. */
  readonly unsettledBytes: number;
  /**
   * The next piece of speech, some 20 to 250 ms of it. The scheduler finds the utterances by their pauses.
   * False: it was not taken, because too much waits (an `overflow` event says so) or the session is over.
   */
  sendAudio(bytes: Uint8Array): boolean;
  /** The speaker is done: translate now. Returns the request id of the utterance, undefined if nothing was said. */
  endUtterance(): string | undefined;
  /** A whole utterance at once. Returns its request id; undefined: it was not taken, as in sendAudio(). */
  sendUtterance(bytes: Uint8Array, options?: UtteranceOptions): string | undefined;
  /** A result is being spoken: pauses do not end utterances meanwhile. False: there is no connection to say it on. */
  playbackStarted(groupId: string, traceId: string): boolean;
  playbackEnded(groupId: string, traceId: string): boolean;
  /** Resolves when everything that was given has its outcome, or the session is over. */
  settled(): Promise<void>;
  /**
   * Ends the last utterance, sends what waits, and takes leave; resolves when the scheduler has confirmed, after
   * `closeTimeoutMs` at the latest. To wait for the translations, await settled() first.
   */
  close(reason?: string): Promise<SessionEnd>;
  /** Returns what ends the listening. */
  on<Name extends SessionEventName>(name: Name, listener: Listener<Name>): () => void;
}
