/** What was thrown, as an answer: known faults by their code, everything else as INTERNAL_ERROR that leaks nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SchedulerError } from '../../../domain/errors.ts';
import type { Log } from '../../../ports/log.ts';
import type { Meter } from '../../../ports/meter.ts';
import { redactUrl } from '../../access/redact-url.ts';
import type { Refusal } from '../../wire/error-answer.ts';
import { InvalidInput } from './invalid-input.ts';
import { replyError } from './reply-error.ts';

/** Of Fastify: how a request can be wrong before it reaches a route. Its own messages repeat the input, these do not. */
const FRAMEWORK: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE', detail: 'the body is too large' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'INVALID_MESSAGE',
    status: 415,
    detail: 'the body must be JSON',
    hint: 'Send "Content-Type: application/json"; with curl: --json, or -H "content-type: application/json" -d.',
  },
  FST_ERR_BAD_URL: { code: 'INVALID_MESSAGE', detail: 'the URL is not written correctly' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'INVALID_MESSAGE', detail: 'an id in the path is too long' },
};

export type HandleError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function createHandleError(deps: { log: Log; meter: Meter }): HandleError {
  return (error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.code === 'INVALID_MESSAGE') {
      deps.meter.count('scheduler_invalid_messages_total', { edge: 'http' });
    }
    if (refusal.code === 'INTERNAL_ERROR') {
      deps.log.error({ err: error, method: request.method, url: redactUrl(request.url) }, 'request failed');
    }
    return replyError(reply, refusal);
  };
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof InvalidInput) {
    return { code: 'INVALID_MESSAGE', detail: error.problem.message, field: error.problem.path };
  }
  if (error instanceof SchedulerError && error.code !== 'INTERNAL_ERROR') {
    return { code: error.code, detail: error.message };
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (known !== undefined) return known;
  if (isFrameworkCode(code) && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return { code: 'INVALID_MESSAGE', detail: 'the request cannot be read' };
  }
  return { code: 'INTERNAL_ERROR', detail: 'something went wrong inside the scheduler' };
}

/** ECONNRESET: the client left in the middle of its body; the answer reaches nobody. */
const isFrameworkCode = (code: unknown): boolean =>
  typeof code === 'string' && (code.startsWith('FST_') || code === 'ECONNRESET');
