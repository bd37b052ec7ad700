/**
 * Port: input audio on the instance that received it. Never shared, never logged.
 *
 * The law: bounded per job and in all; at the limit `put` answers `full` and keeps nothing.
 */
import type { JobId } from '../domain/ids.ts';

export interface AudioStore {
  put(jobId: JobId, audio: Buffer): 'held' | 'full';
  get(jobId: JobId): Buffer | undefined;
  drop(jobId: JobId): void;
  /** Bytes held now. */
  size(): number;
}
