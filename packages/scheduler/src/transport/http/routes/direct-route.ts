/**
 * Hot path: POST /internal/v1/questions, where other instances ask directly what they would otherwise ask by message. No part of the
 * protocol, and not behind the gate: the credential is the key that this life of the instance shows to whoever reads its presence.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DIRECT_PATH } from '../../../ports/direct-line.ts';
import { bearerOf } from '../../access/bearer.ts';
import type { Refusal } from '../../wire/error-answer.ts';
import type { HttpServices } from '../server/http-services.ts';
import { replyError } from '../server/reply-error.ts';

/** Counted before a word of them is read. Whoever is told so asks by message, and those can be held up. */
const MOST_AT_ONCE = 500;

export function addDirectRoute(
  app: FastifyInstance,
  { settings }: Pick<HttpServices, 'settings'>,
  { key, answer }: NonNullable<HttpServices['direct']>,
): void {
  let underWay = 0;
  /** Whoever asked may have gone: what it asked goes on. */
  let answering = 0;

  function refuses({ headers: { authorization } }: FastifyRequest): Refusal | undefined {
    const expected = key();
    const presented = authorization === undefined ? undefined : bearerOf(authorization);
    if (expected === undefined || presented === undefined || !isSame(expected, presented)) return NO_KEY;
    return Math.max(underWay, answering) >= MOST_AT_ONCE ? NOT_NOW : undefined;
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

  // By itself, because nobody else may send text.
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
        if (answered === undefined) return replyError(reply, NOT_NOW);
        return reply.type('application/json').send(answered);
      },
    });
  });
}

/** By their digests, which are as long for every key: the time taken says nothing about how near it came. */
const isSame = (expected: string, presented: string): boolean =>
  timingSafeEqual(digestOf(expected), digestOf(presented));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const NO_KEY: Refusal = {
  code: 'UNAUTHORIZED',
  detail: 'only instances of this cluster may ask here',
  hint: 'Nothing here is for clients or nodes; GET /docs lists what is.',
};

const NOT_NOW: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'this instance takes no questions of others now',
  hint: 'Ask by message.',
};
