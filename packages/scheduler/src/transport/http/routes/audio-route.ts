/** Hot path: GET /v1/audio/:ref sends the audio of a job to its node, or to the instance that has the node. The credential is the job's token, or that instance's signature. */
import type { AudioPath } from '@lingua/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { INSTANCE_SCHEME } from '../../access/instance-signature.ts';
import { readBearerToken } from '../../access/tokens.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { PRIVATE, refusalOfSpending } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';

type Request = FastifyRequest<{ Params: AudioPath }>;

export function addAudioRoute(
  routes: Routes,
  { gate, clock, settings }: Pick<HttpServices, 'gate' | 'clock' | 'settings'>,
  { store, tokens, signature }: NonNullable<HttpServices['audio']>,
): void {
  function findRefusal({ params, headers }: Request): Refusal | undefined {
    const { authorization } = headers;
    if (authorization === undefined) return NO_TOKEN;
    const isOpen = authorization.startsWith(INSTANCE_SCHEME)
      ? signature?.accepts(`/v1/audio/${params.ref}`, authorization)
      : tokens.opens(params.ref, readBearerToken(authorization));
    if (isOpen !== true) return WRONG_TOKEN;
    return refusalOfSpending(gate.spend(undefined));
  }

  /** The buffer stays in memory until it was sent, and no other limit applies to a slow reader. */
  function cutSlowReader({ raw }: FastifyReply): void {
    raw.once(
      'close',
      clock.after(settings.requestTimeoutMs, () => raw.destroy()),
    );
  }

  routes.add<{ Params: AudioPath }>('GET', '/v1/audio/:ref', {}, async (request, reply) => {
    reply.headers(PRIVATE);
    const refusal = findRefusal(request);
    if (refusal !== undefined) return replyError(reply, refusal);
    const audio = store.get(request.params.ref);
    if (audio === undefined) return replyError(reply, GONE);
    cutSlowReader(reply);
    return reply.header('content-type', 'application/octet-stream').send(audio);
  });
}

const HINT = 'Send "Authorization: Bearer" with the token of the job\'s audio_ref.';
const NO_TOKEN: Refusal = {
  code: 'UNAUTHORIZED',
  detail: 'fetching audio requires the token of its job',
  hint: HINT,
};
/** The same text whether or not the job exists. */
const WRONG_TOKEN: Refusal = {
  code: 'FORBIDDEN',
  detail: 'this token does not open this audio, or has expired',
  hint: HINT,
};

const GONE: Refusal = {
  code: 'AUDIO_LOST',
  detail: 'the audio of this job is no longer held',
  hint: 'The job is finished or was sent to another node: no action is needed.',
};
