/** Hot path: POST /v1/dispatch/f2f accepts an utterance. */
import { DispatchRequest } from '@lingua/protocol';
import type { FastifyReply } from 'fastify';
import type { DispatchOutcome } from '../../../domain/dispatch.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { ReadDispatch } from '../requests/read-dispatch.ts';
import { createFindUnknownFields } from '../requests/unknown-fields.ts';
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

export function addDispatchRoute(
  routes: Routes,
  { jobs }: Pick<HttpServices, 'jobs'>,
  readDispatch: ReadDispatch,
): void {
  routes.add<{ Body: DispatchRequest }>('POST', '/v1/dispatch/f2f', OPTIONS, (request, reply) => {
    const { body } = request;
    const warnings = findUnknownFields(body);
    const read = readDispatch(request, body, body.session_id);
    if (read.kind === 'refused') return replyError(reply, { ...read.refusal, warnings });
    const dispatching = jobs.dispatch(read.request);
    return dispatching instanceof Promise
      ? answerLater(reply, dispatching, warnings)
      : answer(reply, dispatching, warnings);
  });
}

const findUnknownFields = createFindUnknownFields(DispatchRequest);

type Warnings = ReturnType<typeof findUnknownFields>;

const answerLater = (
  reply: FastifyReply,
  dispatching: Promise<DispatchOutcome>,
  warnings: Warnings,
): Promise<unknown> => dispatching.then((outcome) => answer(reply, outcome, warnings));

function answer(reply: FastifyReply, outcome: DispatchOutcome, warnings: Warnings): unknown {
  if (outcome.kind === 'dispatched') return dispatched(outcome.job, warnings);
  const { code, message: detail, hint, reasons, retryAfterMs } = outcome;
  return replyError(reply, { code, detail, hint, reasons, retryAfterMs, warnings });
}

function dispatched(job: JobRecord, warnings: Warnings): Dispatched {
  const where = job.fence ?? job.intent;
  return {
    job_id: job.jobId,
    node_id: where?.nodeId,
    attempt_id: where?.attempt,
    request_id: job.requestId,
    utterance_index: job.spec.utteranceIndex,
    state: job.state,
    warnings: warnings as string[] | undefined,
  };
}
