/** Jobs of several instances that a test controls: each instance has its own dispatcher, records and moves are shared. */
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { ErrorCode } from '../../../src/domain/errors.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { JobDispatcher } from '../../../src/session/session-service.ts';

export interface SharedJob {
  readonly text: string;
  readonly jobId: string;
  readonly record: JobRecord;
  /** How often its request was repeated. */
  readonly repeats: number;
  finish(): void;
  fail(): void;
  /** The driver found no node and withdrew it. */
  withdraw(): void;
}

/** A dispatch of an instance without an outcome. */
export interface PendingRequest {
  readonly instance: string;
  readonly text: string;
  readonly request: DispatchRequest;
  /** Like the engine: records it and sends it to a node, or finds the job of this request. */
  answer(): void;
  /** Records it without sending it. */
  admit(): void;
  refuse(code: ErrorCode): void;
}

export interface SharedJobs {
  readonly jobs: readonly SharedJob[];
  readonly pendingRequests: readonly PendingRequest[];
  readonly cancelled: readonly string[];
  readonly records: { get(jobId: string): Promise<JobRecord | undefined> };
  readonly events: ReturnType<typeof createJobEvents>;
  dispatcher(instance: string, moved: (job: JobRecord) => void): JobDispatcher;
  /** Its unrecorded requests are lost; recorded jobs continue. */
  kill(instance: string): void;
  job(text: string): SharedJob;
  pendingRequest(text: string): PendingRequest;
  /** Answers all requests, now and later. */
  answerAll(): void;
  setDown(isDown: boolean): void;
  /** The record of this job cannot be read. */
  hide(text: string, isHidden: boolean): void;
}

export function createSharedJobs({ clock }: { clock: Clock }): SharedJobs {
  const events = createJobEvents({ maxListeners: 1_000 });
  const records = new Map<string, JobRecord>();
  const bound = new Map<string, string>();
  const jobs: (SharedJob & { repeats: number; driver: string; place(): void })[] = [];
  const pendingRequests: PendingRequest[] = [];
  const cancelled: string[] = [];
  const drivers = new Map<string, (job: JobRecord) => void>();
  const hidden = new Set<string>();
  let isAnswering = false;
  let isDown = false;

  const keyOf = ({ tenantId, requestId }: DispatchRequest) => requestId && `${tenantId} ${requestId}`;

  function record(job: JobRecord, driver: string): void {
    records.set(job.jobId, job);
    events.publish(job);
    drivers.get(driver)?.(job);
  }

  function create(request: DispatchRequest, driver: string) {
    const jobId = request.jobId ?? `job-${jobs.length}`;
    const text = request.audio?.toString() ?? '';
    const key = keyOf(request);
    if (key !== undefined) bound.set(key, jobId);
    const { tenantId, sessionId, requestId, spec } = request;
    const at = clock.now();
    const plain = {
      jobId,
      tenantId,
      sessionId,
      requestId,
      spec,
      createdAt: at,
      deadlineAt: at + 90_000,
      timeline: [],
    };
    records.set(jobId, { ...plain, fingerprint: request.fingerprint, state: 'CREATED' });
    const unbind = () => {
      if (key !== undefined) bound.delete(key);
    };
    const job = {
      text,
      jobId,
      driver,
      repeats: 0,
      get record() {
        return records.get(jobId) as JobRecord;
      },
      place: () => {
        const fence = { nodeId: `node-of-${text}`, attempt: 1 };
        record({ ...job.record, state: 'DISPATCHED', fence }, driver);
      },
      finish() {
        const result = { textAsr: text, textTranslated: `<${text}>`, ttsAudio: 'AAAA', ttsFormat: 'opus' };
        record({ ...job.record, state: 'FINISHED', result }, driver);
      },
      fail() {
        unbind();
        const failure = { code: 'PROCESSING_ERROR', message: 'failed' };
        record({ ...job.record, state: 'FAILED', failure }, driver);
      },
      withdraw() {
        unbind();
        records.delete(jobId);
      },
    };
    jobs.push(job);
    return job;
  }

  function pendingRequest(instance: string, request: DispatchRequest): Promise<DispatchOutcome> {
    return new Promise((resolve) => {
      let job: ReturnType<typeof create> | undefined;
      const isAlive = () => drivers.has(instance);
      const earlier = () => jobs.findLast(({ jobId }) => jobId === bound.get(keyOf(request) ?? ''));
      function remove(): boolean {
        const at = pendingRequests.indexOf(one);
        if (at >= 0) pendingRequests.splice(at, 1);
        return at >= 0 && isAlive();
      }
      const refused = (code: ErrorCode) => resolve({ kind: 'refused', code, message: `refused: ${code}` });
      const one: PendingRequest = {
        instance,
        request,
        text: request.audio?.toString() ?? '',
        admit() {
          if (!isAlive() || job !== undefined || isDown || earlier() !== undefined) return;
          job = create(request, instance);
          request.admitted?.(job.record);
        },
        answer() {
          if (!remove()) return;
          if (isDown) return refused('SCHEDULER_DEPENDENCY_DOWN');
          const first = earlier();
          if (job === undefined && first !== undefined) {
            if (first.record.fingerprint !== request.fingerprint) return refused('IDEMPOTENCY_CONFLICT');
            // Another instance is about to send it to a node.
            if (first.record.state === 'CREATED') return refused('SCHEDULER_DEPENDENCY_DOWN');
            first.repeats += 1;
            return resolve({ kind: 'dispatched', job: first.record, isRepeat: true });
          }
          one.admit();
          if (job === undefined) return;
          job.place();
          resolve({ kind: 'dispatched', job: job.record, isRepeat: false });
        },
        refuse(code) {
          if (!remove()) return;
          job?.withdraw();
          refused(code);
        },
      };
      pendingRequests.push(one);
      if (isAnswering) one.answer();
    });
  }

  function found<T extends { text: string }>(list: readonly T[], text: string): T {
    const one = list.findLast((each) => each.text === text);
    if (one === undefined) throw new Error(`there is no request for ${text}`);
    return one;
  }

  return {
    jobs,
    pendingRequests,
    cancelled,
    records: {
      async get(jobId) {
        if (isDown || hidden.has(jobId)) throw new Error('the store is down');
        return records.get(jobId);
      },
    },
    events,
    dispatcher(instance, moved) {
      drivers.set(instance, moved);
      return {
        dispatch: (request) => pendingRequest(instance, request),
        async cancel(jobId) {
          if (!drivers.has(instance)) return;
          if (isDown) throw new Error('the store is down');
          cancelled.push(jobId);
          const job = jobs.find((each) => each.jobId === jobId);
          if (job !== undefined && !SETTLED.has(job.record?.state)) job.fail();
        },
        waiting: () => 0,
      };
    },
    kill(instance) {
      drivers.delete(instance);
      // A survivor drives its jobs.
      for (const job of jobs) if (job.driver === instance && job.record?.state === 'CREATED') job.place();
      for (const one of pendingRequests.filter((each) => each.instance === instance))
        pendingRequests.splice(pendingRequests.indexOf(one), 1);
    },
    job: (text) => found(jobs, text),
    pendingRequest: (text) => found(pendingRequests, text),
    answerAll() {
      isAnswering = true;
      for (const one of [...pendingRequests]) one.answer();
    },
    setDown(down) {
      isDown = down;
    },
    hide(text, isHidden) {
      const { jobId } = found(jobs, text);
      if (isHidden) hidden.add(jobId);
      else hidden.delete(jobId);
    },
  };
}

const SETTLED: ReadonlySet<string> = new Set(['FINISHED', 'FAILED', 'RELEASED', undefined as never]);
