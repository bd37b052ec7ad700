/** Answers a request with an error. */
import type { FastifyReply } from 'fastify';
import { errorAnswer, type Refusal } from '../../wire/error-answer.ts';

export function replyError(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, headers, body } = errorAnswer(refusal);
  return reply.code(status).headers(headers).send(body);
}
