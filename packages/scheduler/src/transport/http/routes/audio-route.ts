/** Hot path: GET /v1/audio/:ref hands a job's audio to the node that has the job. The job's token is the credential. */
import type { AudioPath } from '@lingua/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerOf } from '../../access/bearer.ts';
import type { Refusal } from '../../wire/error-answer.ts';
import { overspends } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import type { HttpServices } from '../server/http-services.ts';
import { replyError } from '../server/reply-error.ts';

type Request = FastifyRequest<{ Params: AudioPath }>;

export function addAudioRoute(
  routes: Routes,
  { gate, clock, settings }: Pick<HttpServices, 'gate' | 'clock' | 'settings'>,
  { store, tokens }: NonNullable<HttpServices['audio']>,
): void {
  function refuses({ params, headers }: Request): Refusal | undefined {
    const { authorization } = headers;
    if (authorization === undefined) return NO_TOKEN;
    if (!tokens.opens(params.ref, bearerOf(authorization))) return WRONG_TOKEN;
    return overspends(gate.spend(undefined));
  }

  /** The bytes outlive their place in the store until they are sent, which nothing else limits for a reader that trickles. */
  function cutSlowReader({ raw }: FastifyReply): void {
    raw.once(
      'close',
      clock.after(settings.requestTimeoutMs, () => raw.destroy()),
    );
  }

  routes.add<{ Params: AudioPath }>(
    'GET',
    '/v1/audio/:ref',
    { tag: 'jobs', hasOwnToken: true },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const refusal = refuses(request);
      if (refusal !== undefined) return replyError(reply, refusal);
      const audio = store.get(request.params.ref);
      if (audio === undefined) return replyError(reply, GONE);
      cutSlowReader(reply);
      return reply.header('content-type', 'application/octet-stream').send(audio);
    },
  );
}

const HINT = 'Send "Authorization: Bearer" with the token of the job\'s audio_ref.';
const NO_TOKEN: Refusal = {
  code: 'UNAUTHORIZED',
  detail: 'fetching audio needs the token of its job',
  hint: HINT,
};
/** Says the same whether or not there is such a job. */
const WRONG_TOKEN: Refusal = { code: 'FORBIDDEN', detail: 'this token does not open this audio', hint: HINT };

const GONE: Refusal = {
  code: 'AUDIO_LOST',
  detail: 'the audio of this job is not held any more',
  hint: 'The job has its outcome already, or is tried elsewhere; there is nothing to do for it here.',
};
