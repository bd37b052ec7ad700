/**
 * Port: input audio on the instance that received it. Never shared, never logged.
 *
 * The law: bounded per job and in total; at the limit `put` and `claim` return `full` and keep nothing. Audio that sessions still collect
 * belongs to no job yet: it is claimed, counts like stored audio and against the same total.
 */
import type { JobId } from '../domain/ids.ts';

export interface AudioStore {
  put(jobId: JobId, audio: Buffer): 'held' | 'full';
  /** The stored bytes, not a copy; the caller must not change them. */
  get(jobId: JobId): Buffer | undefined;
  drop(jobId: JobId): void;
  /** Reserves room for audio that belongs to no job yet. The session keeps the bytes. */
  claim(bytes: number): 'claimed' | 'full';
  /** Releases claimed room, never more than is claimed. */
  unclaim(bytes: number): void;
  /** Bytes that are stored or claimed. */
  size(): number;
  /** The used share of the total limit, from 0 to 1. Cheap: it is read at every chunk. */
  usedShare(): number;
}
