/**
 * Port: new names. All are unguessable and never repeat, across restarts and instances:
 * legacy nodes refuse a job_id they have seen, for as long as their process lives.
 */
export interface IdSource {
  /**
   * With a request id, the name's first part may be a digest of (tenant, request): stores that find the record by either need
   * it so, others need not pay for it.
   */
  jobId(tenantId: string, requestId: string | undefined): string;
  nodeId(): string;
  sessionId(): string;
  traceId(): string;
  /** Strictly increasing in this process and later than anything an earlier process gave out. */
  utteranceIndex(): number;
  /** One short digest of a text or of bytes; equal ones give equal digests everywhere. */
  digest(content: string | Uint8Array): string;
}
