/** Jobs for their callers: read, wait, cancel. */
import type { JobCancelRequest, JobPath, WaitQuery } from '@lingua/protocol';
import { isSettled } from '../../../domain/job.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { callerOf, type Waits } from '../server/waits.ts';
import { viewJob } from '../views/job-view.ts';
import { eraseWhenSent, NO_SUCH_JOB, readJob } from '../views/read-job.ts';

export function addJobRoutes(routes: Routes, services: HttpServices, waits: Waits): void {
  const { jobs, reader } = services;

  routes.add<{ Params: JobPath; Querystring: WaitQuery }>(
    'GET',
    '/v1/job/:id',
    {},
    async ({ params, query, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job === undefined) return replyError(reply, NO_SUCH_JOB);
      const waitMs = query.wait_ms ?? 0;
      if (waitMs === 0 || isSettled(job.state)) {
        eraseWhenSent(services, principal, reply, job);
        return viewJob(job);
      }
      const begun = waits.begin('caller', callerOf(principal), reply);
      if (begun.kind === 'refused') return replyError(reply, begun.refusal);
      const { wait } = begun;
      try {
        const settled = (await reader.settled(params.id, waitMs, wait.signal)) ?? job;
        const lost = wait.refusal();
        if (lost !== undefined) return replyError(reply, lost);
        eraseWhenSent(services, principal, reply, settled);
        return viewJob(settled);
      } finally {
        wait.end();
      }
    },
  );

  routes.add<{ Params: JobPath; Body: JobCancelRequest }>(
    'POST',
    '/v1/job/:id/cancel',
    { isAction: true },
    async ({ params, body, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job === undefined) return replyError(reply, NO_SUCH_JOB);
      const { kind } = await jobs.cancel(params.id, body.reason ?? 'cancelled by its caller');
      if (kind === 'unknown_job') return replyError(reply, NO_SUCH_JOB);
      const { state } = (await reader.get(params.id)) ?? job;
      return kind === 'cancelled'
        ? { ok: true, accepted: true, state }
        : { ok: true, accepted: false, state, reason: kind };
    },
  );
}
