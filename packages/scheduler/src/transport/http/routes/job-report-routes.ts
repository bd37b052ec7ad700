/**
 * Hot path: nodes report acknowledgements, partial texts, results and failures of their jobs. A late report is answered, but changes
 * nothing.
 */
import type { JobAckReport, JobDoneReport, JobFailReport, JobPartialReport } from '@lingua/protocol';
import type { ReportedAttempt, ReportOutcome } from '../../../domain/node-report.ts';
import { toReportedFailure, toResult } from '../../wire/job-report.ts';
import { mayActForNode } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';

export function addJobReportRoutes(routes: Routes, services: HttpServices): void {
  const { jobs, onPartial, settings } = services;
  const options = { bodyLimit: settings.maxNodeBodyBytes };

  function add<Report extends JobAckReport>(
    path: string,
    act: (answer: ReportedAttempt, report: Report) => Promise<ReportOutcome>,
  ): void {
    routes.add<{ Body: Report }>('POST', path, options, async ({ body, principal }, reply) => {
      const { job_id: jobId, attempt_id: attempt, node_id: nodeId } = body as JobAckReport;
      if (!mayActForNode(services, principal, nodeId)) {
        return replyError(reply, {
          code: 'FORBIDDEN',
          detail: 'this credential may not act for that node',
          field: '/node_id',
        });
      }
      const outcome = await act({ nodeId, jobId, attempt }, body as Report);
      return outcome.kind === 'accepted'
        ? { ok: true, accepted: true }
        : { ok: true, accepted: false, reason: outcome.reason };
    });
  }

  add<JobAckReport>('/v1/job/ack', (answer) => jobs.acknowledge(answer));
  add<JobDoneReport>('/v1/job/done', (answer, report) => jobs.finish(answer, toResult(report)));
  add<JobPartialReport>('/v1/job/partial', async (attempt, { text, is_final }) => {
    // Only the attempt that runs produces text.
    const outcome = await jobs.acknowledge(attempt);
    if (outcome.kind === 'accepted') onPartial(attempt.jobId, text, is_final ?? false, attempt.nodeId);
    return outcome;
  });
  add<JobFailReport>('/v1/job/fail', (answer, report) => jobs.fail(answer, toReportedFailure(report)));
}
