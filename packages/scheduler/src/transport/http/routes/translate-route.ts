/** POST /v1/translate: an utterance in, its translation out. Admission is that of a dispatch; the wait is that of a long poll. */
import { DEFAULT_WAIT_MS, TranslateRequest } from '@lingua/protocol';
import type { FastifyReply } from 'fastify';
import { isErrorCode } from '../../../domain/errors.ts';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { ReadDispatch } from '../requests/read-dispatch.ts';
import { readTranslateBody } from '../requests/translate-request.ts';
import { createFindUnknownFields } from '../requests/unknown-fields.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { callerOf, type Waits } from '../server/waits.ts';
import { viewResult } from '../views/job-view.ts';
import { eraseWhenSent } from '../views/read-job.ts';
import { refusedDispatch } from '../views/refused-dispatch.ts';

export function addTranslateRoute(
  routes: Routes,
  services: Pick<HttpServices, 'jobs' | 'reader' | 'ids' | 'clock' | 'eraseDelivered'>,
  readDispatch: ReadDispatch,
  waits: Waits,
): void {
  const { jobs, reader, ids, clock } = services;
  const options = { isIntake: true, namesTenant: true, readBody: readTranslateBody };

  routes.add<{ Body: TranslateRequest }>('POST', '/v1/translate', options, async (request, reply) => {
    const { body } = request;
    const warnings = findUnknownFields(body);
    const waitMs = body.wait_ms ?? DEFAULT_WAIT_MS;
    const read = readDispatch(request, { ...body, wait_ms: waitMs }, ids.sessionId());
    if (read.kind === 'refused') return replyError(reply, { ...read.refusal, warnings });
    const begun = waits.begin('caller', callerOf(request.principal, read.request.tenantId), reply);
    if (begun.kind === 'refused') return replyError(reply, { ...begun.refusal, warnings });
    const { wait } = begun;
    try {
      const waitsUntil = clock.now() + waitMs;
      const outcome = await jobs.dispatch(read.request);
      if (outcome.kind === 'refused') {
        const { principal } = request;
        return replyError(reply, {
          ...refusedDispatch(outcome, principal, body.options?.preferred_node_id),
          warnings,
        });
      }
      const { job } = outcome;
      const leftMs = Math.max(0, waitsUntil - clock.now());
      // A caller that disconnects ends only its wait: the job goes on for a repeat of the request.
      const settled = (await reader.settled(job.jobId, leftMs, wait.signal)) ?? job;
      eraseWhenSent(services, request.principal, reply, settled);
      return answer(reply, settled, warnings);
    } finally {
      wait.end();
    }
  });
}

const findUnknownFields = createFindUnknownFields(TranslateRequest);

function answer(reply: FastifyReply, job: JobRecord, warnings: readonly string[] | undefined): unknown {
  const { jobId, requestId, spec, state, result, failure } = job;
  if (failure !== undefined) return replyError(reply, { ...refusalOf(jobId, failure), warnings });
  const named = { job_id: jobId, request_id: requestId, warnings: warnings && [...warnings] };
  if (result !== undefined && isSettled(state)) {
    return omitUndefined({
      ...named,
      src_lang: spec.sourceLanguage,
      tgt_lang: spec.targetLanguage,
      ...viewResult(result),
    });
  }
  const url = `/v1/job/${jobId}`;
  return reply
    .code(202)
    .header('location', url)
    .send(omitUndefined({ ...named, state, url }));
}

/** Nodes report codes of their own, which have no status. */
const refusalOf = (jobId: string, { code, message }: { code: string; message: string }): Refusal =>
  isErrorCode(code)
    ? { code, detail: message, jobId }
    : { code: 'PROCESSING_ERROR', detail: `${code}: ${message}`, jobId };
