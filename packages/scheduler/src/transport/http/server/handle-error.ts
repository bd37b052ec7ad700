/** Error replies: known faults by their code, everything else as INTERNAL_ERROR without details. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SchedulerError } from '../../../domain/errors.ts';
import type { Log } from '../../../ports/log.ts';
import type { Meter } from '../../../ports/meter.ts';
import { redactUrl } from '../../access/redact-url.ts';
import { type Refusal, toErrorReply } from '../../wire/error-reply.ts';
import { InvalidInput } from './read-input.ts';

/** Errors of Fastify about requests that reach no route. Fastify's own texts repeat the input; these do not. */
const FRAMEWORK: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'INVALID_MESSAGE',
    status: 415,
    detail: 'the body must be JSON',
    hint: 'Send "Content-Type: application/json"; with curl: --json, or -H "content-type: application/json" -d.',
  },
  FST_ERR_BAD_URL: { code: 'INVALID_MESSAGE', detail: 'the URL is malformed' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'INVALID_MESSAGE', detail: 'an id in the path is too long' },
};

export type HandleError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function createHandleError(deps: { log: Log; meter: Meter }): HandleError {
  return (error, request, reply) => {
    const refusal = refusalOf(error, request);
    if (refusal.code === 'INVALID_MESSAGE') {
      deps.meter.count('scheduler_invalid_messages_total', { edge: 'http' });
    }
    if (refusal.code === 'INTERNAL_ERROR') {
      deps.log.error({ err: error, method: request.method, url: redactUrl(request.url) }, 'request failed');
    }
    return replyError(reply, refusal);
  };
}

function refusalOf(error: unknown, { routeOptions }: FastifyRequest): Refusal {
  if (error instanceof InvalidInput) {
    return { code: 'INVALID_MESSAGE', detail: error.problem.message, field: error.problem.path };
  }
  if (error instanceof SchedulerError && error.code !== 'INTERNAL_ERROR') {
    return { code: error.code, detail: error.message };
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const detail = `the body is larger than the limit here, ${routeOptions.bodyLimit} bytes`;
    return { code: 'PAYLOAD_TOO_LARGE', detail };
  }
  const known = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (known !== undefined) return known;
  if (isFrameworkCode(code) && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return { code: 'INVALID_MESSAGE', detail: 'the request is unreadable' };
  }
  return { code: 'INTERNAL_ERROR', detail: 'the scheduler failed internally' };
}

/** ECONNRESET: the client left before the end of its body, and will not receive the reply. */
const isFrameworkCode = (code: unknown): boolean =>
  typeof code === 'string' && (code.startsWith('FST_') || code === 'ECONNRESET');

export function replyError(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, headers, body } = toErrorReply(refusal);
  return reply.code(status).headers(headers).send(body);
}
