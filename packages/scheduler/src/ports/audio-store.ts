/**
 * Port: input audio on the instance that received it. Never shared, never logged.
 *
 * The law: bounded per job, per tenant and in total; at a limit `put` and `claim` return `full` or `tenant_full` and keep nothing. Audio that sessions still collect
 * belongs to no job yet: it is claimed, counts like stored audio and against the same total.
 */
import type { JobId, TenantId } from '../domain/ids.ts';

/** `tenant_full`: the tenant has its part of the total. */
export type AudioFull = 'full' | 'tenant_full';

export interface AudioStore {
  put(jobId: JobId, tenantId: TenantId, audio: Buffer): 'held' | AudioFull;
  /** The stored bytes, not a copy; the caller must not change them. */
  get(jobId: JobId): Buffer | undefined;
  drop(jobId: JobId): void;
  /** Reserves room for audio that belongs to no job yet. The session keeps the bytes. */
  claim(tenantId: TenantId, bytes: number): 'claimed' | AudioFull;
  /** Releases claimed room, never more than is claimed. */
  unclaim(tenantId: TenantId, bytes: number): void;
  /** Bytes that are stored or claimed. */
  size(): number;
  /** The used share of the total limit, from 0 to 1. Cheap: it is read at every chunk. */
  usedShare(): number;
}
