/**
 * The one place that turns an error code into an HTTP reply: to a request, to an upgrade, or to bytes that are not
 * HTTP. Pure.
 */
import type { ErrorReply } from '@lingua/protocol';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';
import type { RejectionCount } from '../../domain/need.ts';
import { omitUndefined } from './omit-undefined.ts';

export interface Refusal {
  readonly code: ErrorCode;
  readonly detail: string;
  /** JSON pointer of the invalid field. */
  readonly field?: string | undefined;
  readonly reasons?: readonly RejectionCount[] | undefined;
  /** `null`: a retry alone does not help. Absent: the default of the code. */
  readonly retryAfterMs?: number | null | undefined;
  /** Fields of the request that were ignored. */
  readonly warnings?: readonly string[] | undefined;
  /** The job that failed; absent: there is none. */
  readonly jobId?: string | undefined;
  /** Overrides the hint of the error table. */
  readonly hint?: string | undefined;
  /** Overrides the status of the code where HTTP has a more exact one (405, 408, 415, 431). */
  readonly status?: number | undefined;
}

export interface HttpErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorReply;
}

const RETRY_AFTER_MS = 1_000;

export function toErrorReply(refusal: Refusal): HttpErrorReply {
  const entry = errorEntry(refusal.code);
  const usual = entry.isTransient === true ? RETRY_AFTER_MS : undefined;
  const retryAfterMs = refusal.retryAfterMs === undefined ? usual : (refusal.retryAfterMs ?? undefined);
  return {
    status: refusal.status ?? entry.status,
    headers: {
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
      ...(refusal.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {}),
    },
    body: omitUndefined({
      error: refusal.code,
      detail: refusal.detail,
      hint: refusal.hint ?? entry.hint,
      field: refusal.field === '' ? undefined : refusal.field,
      reasons: refusal.reasons?.map(({ reason, count, sampleNodeIds }) => ({
        reason,
        count,
        sample_node_ids: [...sampleNodeIds],
      })),
      job_id: refusal.jobId,
      warnings: refusal.warnings && [...refusal.warnings],
      retry_after_ms: retryAfterMs,
    }),
  };
}

/** Used while this instance shuts down. */
export const DRAINING_REFUSAL: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'this instance is shutting down and takes no new work',
  hint: 'Use another instance, or try again after retry_after_ms.',
  retryAfterMs: 2_000,
};
