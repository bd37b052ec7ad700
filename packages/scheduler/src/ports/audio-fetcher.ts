/**
 * Port: fetches the audio that another instance holds for a job.
 *
 * The law: the bytes exactly as they are held there, or nothing: never a part of them, never more than was announced, never later than
 * the limit. It does not throw: whoever asks can do nothing but try another way.
 */
import type { AudioAt } from '../domain/job-spec.ts';

export interface AudioFetcher {
  fetch(at: AudioAt, limitMs: number): Promise<Buffer | undefined>;
}
