/**
 * Port: fetches the audio of a job from the instance that stores it.
 *
 * The law: it returns the exact bytes or nothing: never a part of them, never more than was announced, never later than the limit. It does
 * not throw: every failure is `undefined`.
 */
import type { AudioAt } from '../domain/job-spec.ts';

export interface AudioFetcher {
  fetch(at: AudioAt, limitMs: number): Promise<Buffer | undefined>;
}
