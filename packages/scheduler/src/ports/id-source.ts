/**
 * Port: new ids. All are unguessable and never repeat, across restarts and instances: legacy nodes reject a job_id that their
 * process has seen before.
 */
export interface IdSource {
  /**
   * With a request id, the first part of the job id may be a digest of (tenant, request): a shared store uses it to find the record by
   * either id.
   */
  jobId(tenantId: string, requestId: string | undefined): string;
  nodeId(): string;
  sessionId(): string;
  traceId(): string;
  /** Strictly increasing in this process, and greater than all ids of earlier processes. */
  utteranceIndex(): number;
  /** A short digest of a text or of bytes; the same on every instance. */
  digest(content: string | Uint8Array): string;
}
