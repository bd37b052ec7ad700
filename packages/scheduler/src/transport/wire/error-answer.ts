/** The one place that turns an error code into an HTTP answer: to a request, an upgrade, or what is no HTTP at all. Pure. */
import type { ErrorReply } from '@lingua/protocol';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';
import type { RejectionCount } from '../../domain/need.ts';
import { given } from './given.ts';

export interface Refusal {
  readonly code: ErrorCode;
  readonly detail: string;
  /** JSON pointer of the field at fault. */
  readonly field?: string | undefined;
  readonly reasons?: readonly RejectionCount[] | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Better than the table's, where this case is special. */
  readonly hint?: string | undefined;
  /** Where HTTP itself has a more exact word than the code's status (405, 408, 415, 431). */
  readonly status?: number | undefined;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorReply;
}

const RETRY_AFTER_MS = 1_000;

export function errorAnswer(refusal: Refusal): ErrorAnswer {
  const entry = errorEntry(refusal.code);
  const retryAfterMs = refusal.retryAfterMs ?? (entry.isTransient === true ? RETRY_AFTER_MS : undefined);
  return {
    status: refusal.status ?? entry.status,
    headers: {
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
      ...(refusal.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {}),
    },
    body: given({
      error: refusal.code,
      detail: refusal.detail,
      hint: refusal.hint ?? entry.hint,
      field: refusal.field === '' ? undefined : refusal.field,
      reasons: refusal.reasons?.map(({ reason, count, sampleNodeIds }) => ({
        reason,
        count,
        sample_node_ids: [...sampleNodeIds],
      })),
      retry_after_ms: retryAfterMs,
    }),
  };
}

/** A server on its way out: others, or its successor, do the work. */
export const DRAINING_REFUSAL: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'this instance is shutting down and takes no new work',
  hint: 'Use another instance, or try again after retry_after_ms.',
  retryAfterMs: 2_000,
};
