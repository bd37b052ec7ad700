/**
 * Port: new names. All are unguessable and never repeat, across restarts and instances:
 * nodes in the field refuse a job_id they have seen, for as long as their process lives.
 */
export interface IdSource {
  /** With a request id, the name's first part is a digest of (tenant, request), so that a store can find the record by either. */
  jobId(tenantId: string, requestId: string | undefined): string;
  nodeId(): string;
  sessionId(): string;
  traceId(): string;
  /** Strictly increasing in this process and later than anything an earlier process gave out. */
  utteranceIndex(): number;
  /** One short digest of a text; equal texts give equal digests everywhere. */
  digest(text: string): string;
}
