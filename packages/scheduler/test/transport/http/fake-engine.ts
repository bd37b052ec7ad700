/** A job engine whose jobs are always on node-1 and move when the test says so. */

import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { JobRecord, JobState } from '../../../src/domain/job.ts';
import { isListed } from '../../../src/domain/job-query.ts';
import type { ReportResult } from '../../../src/domain/node-report.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { IdSource } from '../../../src/ports/id-source.ts';
import type { JobEvents } from '../../../src/ports/job-events.ts';
import type { JobStore } from '../../../src/ports/job-store.ts';
import type { HttpServices } from '../../../src/transport/http/server/http-services.ts';

export function createFakeEngine(deps: { clock: Clock; ids: IdSource; events: JobEvents }) {
  const records = new Map<string, JobRecord>();
  const dispatched: DispatchRequest[] = [];
  const answers: unknown[][] = [];
  let refusal: DispatchOutcome | undefined;
  let answer: ReportResult | undefined;

  function record(request: DispatchRequest): JobRecord {
    const now = deps.clock.now();
    return {
      jobId: deps.ids.jobId(request.tenantId, request.requestId),
      tenantId: request.tenantId,
      sessionId: request.sessionId,
      ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
      spec: { ...request.spec, audio: { kind: 'none' } },
      state: 'DISPATCHED',
      fence: { nodeId: 'node-1', attempt: 1 },
      createdAt: now,
      deadlineAt: now + 90_000,
      timeline: [{ state: 'DISPATCHED', at: now, attempt: 1, nodeId: 'node-1' }],
    };
  }

  function move(jobId: string, state: JobState, change: Partial<JobRecord> = {}): JobRecord {
    const job = records.get(jobId);
    if (job === undefined) throw new Error(`no job ${jobId}`);
    const at = deps.clock.now();
    const moved = {
      ...job,
      ...change,
      state,
      timeline: [...job.timeline, { state, at, attempt: 1, nodeId: 'node-1' }],
    };
    records.set(jobId, moved);
    deps.events.publish(moved);
    return moved;
  }

  async function answered(...call: unknown[]): Promise<ReportResult> {
    answers.push(call);
    return answer ?? { kind: 'ignored', reason: 'unknown_job' };
  }

  const jobs: HttpServices['jobs'] = {
    async dispatch(request) {
      dispatched.push(request);
      if (refusal !== undefined) return refusal;
      const job = record(request);
      records.set(job.jobId, job);
      return { kind: 'dispatched', job, isRepeat: false };
    },
    acknowledge: (given) => answered('ack', given),
    finish: (given, result) => answered('done', given, result),
    fail: (given, failure) => answered('fail', given, failure),
    async cancel(jobId) {
      const job = records.get(jobId);
      if (job === undefined) return { kind: 'unknown_job' };
      if (job.state === 'FAILED' || job.state === 'FINISHED') return { kind: 'settled' };
      move(jobId, 'FAILED', { failure: { code: 'JOB_CANCELLED', message: 'cancelled' } });
      return { kind: 'cancelled' };
    },
  };

  const store = {
    get: async (jobId: string) => records.get(jobId),
    list: async (query) => ({
      jobs: [...records.values()].filter((job) => isListed(job, query)).slice(0, query.limit),
    }),
  } as Pick<JobStore, 'get' | 'list'> as JobStore;

  return {
    jobs,
    store,
    records,
    dispatched,
    answers,
    move,
    refuseWith: (outcome: DispatchOutcome) => {
      refusal = outcome;
    },
    answerWith: (outcome: ReportResult) => {
      answer = outcome;
    },
  };
}
