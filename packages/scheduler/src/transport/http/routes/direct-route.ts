/**
 * Hot path: POST /internal/v1/questions, where other instances send requests that would otherwise be messages. Not
 * part of the protocol and not behind the gate: the credential is the key that this incarnation publishes in its
 * presence.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DIRECT_PATH } from '../../../ports/direct-line.ts';
import { readBearerToken } from '../../access/tokens.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';

/** Checked before the body is read. A refused instance sends a message instead, and messages can wait. */
const MAX_CONCURRENT = 500;

export function addDirectRoute(
  app: FastifyInstance,
  { settings }: Pick<HttpServices, 'settings'>,
  { key, answer }: NonNullable<HttpServices['direct']>,
): void {
  let underWay = 0;
  /** A request is still handled when its sender has left. */
  let answering = 0;

  function refuses({ headers: { authorization } }: FastifyRequest): Refusal | undefined {
    const expected = key();
    const presented = authorization === undefined ? undefined : readBearerToken(authorization);
    if (expected === undefined || presented === undefined || !isSame(expected, presented)) return NO_KEY;
    return Math.max(underWay, answering) >= MAX_CONCURRENT ? UNAVAILABLE : undefined;
  }

  async function answerCounted(question: string): Promise<string | undefined> {
    answering += 1;
    try {
      return await answer(question);
    } finally {
      answering -= 1;
    }
  }

  function count({ raw }: FastifyReply): void {
    underWay += 1;
    raw.once('close', () => {
      underWay -= 1;
    });
  }

  // In its own scope, because no other route accepts text.
  app.register(async (inner) => {
    inner.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    );
    inner.route({
      method: 'POST',
      url: DIRECT_PATH,
      bodyLimit: settings.maxNodeBodyBytes,
      schema: { hide: true },
      onRequest(request, reply, done) {
        const refusal = refuses(request);
        if (refusal !== undefined) {
          replyError(reply, refusal);
          return;
        }
        count(reply);
        done();
      },
      async handler({ body }, reply) {
        reply.header('cache-control', 'no-store');
        const answered = typeof body === 'string' ? await answerCounted(body) : undefined;
        if (answered === undefined) return replyError(reply, UNAVAILABLE);
        return reply.type('application/json').send(answered);
      },
    });
  });
}

/** Compares digests, which have equal length, in constant time. */
const isSame = (expected: string, presented: string): boolean =>
  timingSafeEqual(digestOf(expected), digestOf(presented));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const NO_KEY: Refusal = {
  code: 'UNAUTHORIZED',
  detail: 'only instances of this cluster may send requests here',
  hint: 'This path is not for clients or nodes; GET /docs lists the ones that are.',
};

const UNAVAILABLE: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'this instance accepts no requests of other instances now',
  hint: 'Send a message instead.',
};
