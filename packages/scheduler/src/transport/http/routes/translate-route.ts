/** POST /v1/translate: an utterance in, its translation out. Admission is that of a dispatch; the wait is that of a long poll. */
import { DEFAULT_WAIT_MS, type QuotaUse, TranslateRequest } from '@lingua/protocol';
import type { FastifyReply } from 'fastify';
import type { DispatchRequest } from '../../../domain/dispatch.ts';
import { isErrorCode } from '../../../domain/errors.ts';
import type { TenantId } from '../../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import type { Language } from '../../../domain/language.ts';
import type { PlanRequest } from '../../../domain/plan.ts';
import { isServed } from '../../../runtime/stages/plan-stages.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { viewQuota } from '../../wire/quota-view.ts';
import { readPlan, readTarget, whatDoesNotGoWithPlans } from '../requests/plan-request.ts';
import type { ReadDispatch } from '../requests/read-dispatch.ts';
import {
  createRunRequest,
  outcomeOf,
  type PlanAnswers,
  refusalOfPart,
} from '../requests/run-plan-request.ts';
import { readTranslateBody } from '../requests/translate-request.ts';
import { createFindUnknownFields } from '../requests/unknown-fields.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { callerOf, type Waits } from '../server/waits.ts';
import { viewResult } from '../views/job-view.ts';
import { jobOf, viewPendingPlan, viewPlan, viewTargets } from '../views/plan-view.ts';
import { eraseWhenSent } from '../views/read-job.ts';
import { refusedDispatch } from '../views/refused-dispatch.ts';

export function addTranslateRoute(
  routes: Routes,
  services: Pick<
    HttpServices,
    'jobs' | 'reader' | 'ids' | 'clock' | 'eraseDelivered' | 'plans' | 'quotas' | 'settings'
  >,
  readDispatch: ReadDispatch,
  waits: Waits,
): void {
  const { jobs, reader, ids, clock, plans } = services;
  const runPlan = plans && createRunRequest({ ...plans, clock, max: services.settings.maxWaits });
  const options = { isIntake: true, namesTenant: true, readBody: readTranslateBody };

  routes.add<{ Body: TranslateRequest }>('POST', '/v1/translate', options, async (request, reply) => {
    const { principal } = request;
    const warnings = findUnknownFields(request.body);
    const targeted = readTarget(request.body);
    if (targeted.kind === 'invalid') return replyError(reply, { ...refusalOfBody(targeted), warnings });
    const { body } = targeted;
    const waitMs = body.wait_ms ?? DEFAULT_WAIT_MS;
    const isPlan = body.tgt_langs !== undefined;
    const isNamed = body.request_id !== undefined || request.headers['idempotency-key'] !== undefined;
    // A plan is found again by its name, so it always has one.
    const named = isPlan && !isNamed ? { ...body, request_id: ids.traceId() } : body;
    const read = readDispatch(request, { ...named, wait_ms: waitMs }, ids.sessionId());
    if (read.kind === 'refused') return replyError(reply, { ...read.refusal, warnings });
    const begun = waits.begin('caller', callerOf(principal, read.request.tenantId), reply);
    if (begun.kind === 'refused') return replyError(reply, { ...begun.refusal, warnings });
    const { wait } = begun;
    const waitsUntil = clock.now() + waitMs;

    async function answerPlan(plan: PlanRequest): Promise<unknown> {
      if (runPlan === undefined) return replyError(reply, { ...NO_PLANS, warnings });
      const answers = await runPlan(plan, Math.max(0, waitsUntil - clock.now()), wait.signal);
      if (answers === 'full') return replyError(reply, { ...TOO_MANY_PLANS, warnings });
      const lost = wait.refusal();
      if (lost !== undefined) return replyError(reply, lost);
      if (answers.isOver)
        for (const job of answers.jobs.values()) eraseWhenSent(services, principal, reply, job);
      const language = read.kind === 'request' ? read.request.spec.targetLanguage : '';
      return replyPlan(reply, plan, language, answers, isPlan, {
        request_id: read.kind === 'request' ? read.request.requestId : undefined,
        warnings: warnings && [...warnings],
        quota: reachedQuota(plan.tenantId),
      });
    }

    try {
      const deadlineAt = clock.now() + (plans?.deadlineMs ?? 0);
      if (isPlan) {
        const made = readPlan(named, read.request, deadlineAt);
        if (made.kind === 'plan') return await answerPlan(made.plan);
        return replyError(reply, { ...refusalOfBody(made), warnings });
      }
      const outcome = await jobs.dispatch(read.request);
      if (outcome.kind === 'refused') {
        const split =
          outcome.code === 'NO_CAPABLE_NODE' ? splitPlan(body, read.request, deadlineAt) : undefined;
        if (split !== undefined) return await answerPlan(split);
        return replyError(reply, {
          ...refusedDispatch(outcome, principal, body.options?.preferred_node_id),
          warnings,
        });
      }
      const { job } = outcome;
      const leftMs = Math.max(0, waitsUntil - clock.now());
      // A caller that disconnects ends only its wait: the job goes on for a repeat of the request.
      const settled = (await reader.settled(job.jobId, leftMs, wait.signal)) ?? job;
      const lost = wait.refusal();
      if (lost !== undefined) return replyError(reply, { ...lost, jobId: job.jobId });
      eraseWhenSent(services, principal, reply, settled);
      return answer(reply, settled, warnings, reachedQuota(settled.tenantId));
    } finally {
      wait.end();
    }
  });

  function reachedQuota(tenantId: TenantId): QuotaUse | undefined {
    const reached = services.quotas?.reached(tenantId);
    return reached && viewQuota(reached);
  }

  /** No node has all stages: perhaps several nodes have them together. */
  function splitPlan(
    body: TranslateRequest,
    request: DispatchRequest,
    deadlineAt: number,
  ): PlanRequest | undefined {
    if (plans === undefined || whatDoesNotGoWithPlans(body) !== undefined) return undefined;
    const isNamed = request.requestId !== undefined;
    const made = readPlan(body, isNamed ? request : { ...request, requestId: ids.traceId() }, deadlineAt);
    if (made.kind === 'invalid') return undefined;
    return isServed(plans.planOf(made.plan)) ? made.plan : undefined;
  }
}

const findUnknownFields = createFindUnknownFields(TranslateRequest);

function answer(
  reply: FastifyReply,
  job: JobRecord,
  warnings: readonly string[] | undefined,
  quota: QuotaUse | undefined,
): unknown {
  const { jobId, requestId, spec, state, result, failure } = job;
  if (failure !== undefined) return replyError(reply, { ...refusalOf(jobId, failure), warnings });
  const named = { job_id: jobId, request_id: requestId, warnings: warnings && [...warnings], quota };
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

const refusalOfBody = ({ field, message }: { field: string; message: string }): Refusal => ({
  code: 'INVALID_MESSAGE',
  detail: message,
  field,
});

const NO_PLANS: Refusal = {
  code: 'UNSUPPORTED_FEATURE',
  detail: '"tgt_langs" is not available on this server',
  field: '/tgt_langs',
};
const TOO_MANY_PLANS: Refusal = {
  code: 'RATE_LIMITED',
  detail: 'too many requests for several languages are running, of this tenant or on this instance',
};

/** `isPlan`: the caller asked for several languages. */
function replyPlan(
  reply: FastifyReply,
  plan: PlanRequest,
  language: Language,
  answers: PlanAnswers,
  isPlan: boolean,
  about: { request_id: string | undefined; warnings: string[] | undefined; quota: QuotaUse | undefined },
): unknown {
  const targets = isPlan ? viewTargets(plan, answers) : undefined;
  const voice = isPlan ? undefined : outcomeOf(answers, language, 'voice');
  // Speech was required, as of a single job.
  if (voice?.kind === 'failed')
    return replyError(reply, { ...refusalOfPart(voice), warnings: about.warnings });
  const job = jobOf(answers, language);
  const isDone = [...answers.outcomes.values()].some(({ kind }) => kind === 'result');
  if (answers.isOver && !isDone) {
    const failed = outcomeOf(answers, language, 'text');
    if (failed?.kind === 'failed')
      return replyError(reply, { ...refusalOfPart(failed), warnings: about.warnings });
  }
  if (job === undefined) return replyError(reply, { ...NOTHING_RECORDED, warnings: about.warnings });
  if (answers.isOver)
    return omitUndefined({ ...viewPlan(plan, language, answers, job.jobId), ...about, targets });
  const pending = viewPendingPlan(job, targets);
  return reply
    .code(202)
    .header('location', pending.url)
    .send(omitUndefined({ ...pending, ...about }));
}

const NOTHING_RECORDED: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'no job of the request was recorded within wait_ms; repeat it with the same request_id',
};
