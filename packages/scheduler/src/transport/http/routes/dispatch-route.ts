/** Hot path: POST /v1/dispatch/f2f accepts an utterance. */
import { DispatchRequest } from '@lingua/protocol';
import type { DispatchOutcome } from '../../../domain/dispatch.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { QuotaState } from '../../../domain/quota.ts';
import { viewQuota } from '../../wire/quota-view.ts';
import type { ReadDispatch } from '../requests/read-dispatch.ts';
import { createFindUnknownFields } from '../requests/unknown-fields.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { type Dispatched, printDispatched } from '../views/print-dispatched.ts';
import { refusedDispatch } from '../views/refused-dispatch.ts';

const OPTIONS = {
  isIntake: true,
  namesTenant: true,
  print: printDispatched,
  isDirect: true,
} as const;

export function addDispatchRoute(
  routes: Routes,
  { jobs, quotas }: Pick<HttpServices, 'jobs' | 'quotas'>,
  readDispatch: ReadDispatch,
): void {
  routes.add<{ Body: DispatchRequest }>('POST', '/v1/dispatch/f2f', OPTIONS, (request, reply) => {
    const { body } = request;
    const warnings = findUnknownFields(body);
    const read = readDispatch(request, body, body.session_id);
    if (read.kind === 'refused') return replyError(reply, { ...read.refusal, warnings });
    const dispatching = jobs.dispatch(read.request);
    const { principal } = request;
    const answer = (outcome: DispatchOutcome): unknown =>
      outcome.kind === 'dispatched'
        ? dispatched(outcome.job, warnings, quotas?.reached(read.request.tenantId))
        : replyError(reply, { ...refusedDispatch(outcome, principal, preferred(body)), warnings });
    return dispatching instanceof Promise ? dispatching.then(answer) : answer(dispatching);
  });
}

const findUnknownFields = createFindUnknownFields(DispatchRequest);

type Warnings = ReturnType<typeof findUnknownFields>;

const preferred = ({ options }: DispatchRequest) => options?.preferred_node_id;

function dispatched(job: JobRecord, warnings: Warnings, quota: QuotaState | undefined): Dispatched {
  const where = job.fence ?? job.intent;
  return {
    job_id: job.jobId,
    node_id: where?.nodeId,
    attempt_id: where?.attempt,
    request_id: job.requestId,
    utterance_index: job.spec.utteranceIndex,
    state: job.state,
    warnings: warnings as string[] | undefined,
    quota: quota && viewQuota(quota),
  };
}
