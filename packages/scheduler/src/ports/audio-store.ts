/**
 * Port: input audio on the instance that received it. Never shared, never logged.
 *
 * The law: bounded per job and in all; at the limit `put` and `claim` answer `full` and keep nothing. What sessions are still
 * collecting has no job yet: it is claimed, counted like held audio and against the same limit in all.
 */
import type { JobId } from '../domain/ids.ts';

export interface AudioStore {
  put(jobId: JobId, audio: Buffer): 'held' | 'full';
  /** The very bytes, not a copy; whoever gets them does not change them. */
  get(jobId: JobId): Buffer | undefined;
  drop(jobId: JobId): void;
  /** Room for audio that belongs to no job yet. The bytes stay with whoever collects them. */
  claim(bytes: number): 'claimed' | 'full';
  /** Gives claimed room back, never more than is claimed. */
  unclaim(bytes: number): void;
  /** Bytes held and claimed now. */
  size(): number;
  /** How much of the limit in all is taken, from 0 to 1. Cheap: it is asked at every chunk. */
  usedShare(): number;
}
