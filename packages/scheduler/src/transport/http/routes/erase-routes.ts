/** DELETE of a job or a session: erases what was said, for its tenant and operators. */
import type { EraseReply, JobPath, SessionPath } from '@lingua/protocol';
import type { Erased } from '../../../cluster/operators/erasure.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { Principal } from '../../access/gate.ts';
import { sessionRefusal } from '../../access/token-scope.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { targetInPath } from '../server/log-action.ts';
import { NO_SUCH_JOB, readJob } from '../views/read-job.ts';

export function addEraseRoutes(
  routes: Routes,
  services: HttpServices,
  erasure: NonNullable<HttpServices['erasure']>,
): void {
  routes.add<{ Params: JobPath }>(
    'DELETE',
    '/v1/job/:id',
    { audit: targetInPath },
    async ({ params, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job !== undefined) return viewErased(await erasure.job(job));
      // A job of another tenant or session counts as absent; a token of one session cannot show that a forgotten job was in it.
      const isForgotten =
        principal.scope?.sessionId === undefined && (await services.reader.get(params.id)) === undefined;
      const left = isForgotten && (await erasure.forgottenJob(params.id, tenantFor(services, principal)));
      return left ? viewErased(left) : replyError(reply, NO_SUCH_JOB);
    },
  );

  routes.add<{ Params: SessionPath }>(
    'DELETE',
    '/v1/sessions/:id',
    { audit: targetInPath },
    async ({ params, principal }, reply) => {
      if (sessionRefusal(principal.scope, params.id, '/id') !== undefined)
        return replyError(reply, NO_SUCH_SESSION);
      const erased = await erasure.session(params.id, tenantFor(services, principal));
      const isKnown = erased.jobs + erased.sessions + erased.roomUtterances > 0 || !erased.isDone;
      return isKnown ? viewErased(erased) : replyError(reply, NO_SUCH_SESSION);
    },
  );
}

/** Operators erase sessions of every tenant. */
function tenantFor({ gate }: Pick<HttpServices, 'gate'>, principal: Principal): TenantId | undefined {
  if (principal.roles.has('operator')) return undefined;
  const own = gate.tenantOf(principal, undefined);
  return own.kind === 'tenant' ? own.tenantId : principal.tenantId;
}

const viewErased = ({
  jobs,
  sessions,
  deadLetters,
  roomUtterances,
  isDone,
  unreachable,
}: Erased): EraseReply => ({
  ok: true,
  jobs,
  sessions,
  dead_letters: deadLetters,
  room_utterances: roomUtterances,
  done: isDone,
  unreachable: [...unreachable],
});

const NO_SUCH_SESSION: Refusal = {
  code: 'NOT_FOUND',
  detail: 'there is no such session, no job of it, and nothing that it said in a room',
  field: '/id',
};
