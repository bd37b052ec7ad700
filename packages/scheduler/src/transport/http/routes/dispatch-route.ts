/** Hot path: POST /v1/dispatch/f2f accepts an utterance. */
import type { DispatchRequest } from '@lingua/protocol';
import type { FastifyReply } from 'fastify';
import type { DispatchOutcome } from '../../../domain/dispatch.ts';
import type { JobRecord } from '../../../domain/job.ts';
import { createRequirements } from '../../../domain/requirements.ts';
import { createLanguageReader } from '../../wire/language-reader.ts';
import { buildDispatch } from '../requests/dispatch-request.ts';
import { refusalOfSpending } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { type Dispatched, printDispatched } from '../views/print-dispatched.ts';

const OPTIONS = {
  isIntake: true,
  namesTenant: true,
  print: printDispatched,
  isDirect: true,
} as const;

export function addDispatchRoute(routes: Routes, services: HttpServices): void {
  const { gate, ids, jobs } = services;
  const require = createRequirements(services.settings.coreServices);
  const readLanguages = createLanguageReader();

  routes.add<{ Body: DispatchRequest }>('POST', '/v1/dispatch/f2f', OPTIONS, (request, reply) => {
    const { body, principal } = request;
    const tenant = gate.tenantOf(principal, body.tenant_id);
    if (tenant.kind === 'forbidden') {
      return replyError(reply, { code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' });
    }
    const limited =
      principal.tenantId === undefined
        ? refusalOfSpending(gate.spendTenantBudget(tenant.tenantId))
        : undefined;
    if (limited !== undefined) return replyError(reply, limited);
    const built = buildDispatch(body, {
      tenantId: tenant.tenantId,
      idempotencyKey: request.raw.headers['idempotency-key'] as string | undefined,
      utteranceIndex: ids.utteranceIndex(),
      traceId: ids.traceId(),
      digest: ids.digest,
      require,
      readLanguages,
    });
    if (built.kind === 'invalid') {
      return replyError(reply, { code: 'INVALID_MESSAGE', detail: built.message, field: built.field });
    }
    const dispatching = jobs.dispatch(built.request);
    return dispatching instanceof Promise ? answerLater(reply, dispatching) : answer(reply, dispatching);
  });
}

const answerLater = (reply: FastifyReply, dispatching: Promise<DispatchOutcome>): Promise<unknown> =>
  dispatching.then((outcome) => answer(reply, outcome));

function answer(reply: FastifyReply, outcome: DispatchOutcome): unknown {
  if (outcome.kind === 'dispatched') return dispatched(outcome.job);
  const { code, message: detail, reasons } = outcome;
  return replyError(reply, { code, detail, reasons });
}

function dispatched(job: JobRecord): Dispatched {
  const where = job.fence ?? job.intent;
  return {
    job_id: job.jobId,
    node_id: where?.nodeId,
    attempt_id: where?.attempt,
    request_id: job.requestId,
    utterance_index: job.spec.utteranceIndex,
    state: job.state,
  };
}
