/** A job dispatcher that a test controls: it records every request, and the test answers, moves, repeats and ends jobs. */
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { ErrorCode } from '../../../src/domain/errors.ts';
import type { JobRecord, JobState } from '../../../src/domain/job.ts';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import type { AudioStore } from '../../../src/ports/audio-store.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { JobDispatcher } from '../../../src/session/session-service.ts';

type Refusal = Extract<DispatchOutcome, { kind: 'refused' }>;

/** One request and its job. */
export interface ScriptedJob {
  readonly request: DispatchRequest;
  readonly jobId: string;
  /** Its audio as text. */
  readonly text: string;
  readonly record: JobRecord;
  admit(): void;
  /** A node has it, and the caller gets the outcome. The node is named after the attempt if no name is given. */
  dispatch(nodeId?: string): Promise<void>;
  refuse(code: ErrorCode, more?: Partial<Refusal>): Promise<void>;
  /** The request id was bound before: the outcome is that job. */
  repeat(other: ScriptedJob): Promise<void>;
  break(fault: Error): Promise<void>;
  /** Publishes the job in this state; may be repeated. */
  move(state: JobState, more?: Partial<JobRecord>): void;
  retry(): void;
  finish(result?: Partial<JobResult>): void;
  fail(code: string): void;
  /** Dispatched, acknowledged and finished. */
  succeed(): Promise<void>;
}

export interface ScriptedDispatcher extends JobDispatcher {
  readonly jobs: readonly ScriptedJob[];
  readonly cancelled: readonly { jobId: string; message: string; code: ErrorCode }[];
  /** The newest, or the one with this audio. */
  job(text?: string): ScriptedJob;
  /** Sets the number of jobs without a slot. */
  setWaiting(count: number): void;
  /** Called for every later request. */
  onDispatch(act: (job: ScriptedJob) => void): void;
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createScriptedDispatcher(deps: {
  clock: Clock;
  audio: AudioStore;
  moved: (job: JobRecord) => void;
}): ScriptedDispatcher {
  const jobs: ScriptedJob[] = [];
  const cancelled: { jobId: string; message: string; code: ErrorCode }[] = [];
  let waiting = 0;
  let act: (job: ScriptedJob) => void = () => {};

  function dispatch(request: DispatchRequest): Promise<DispatchOutcome> {
    return new Promise((resolve, reject) => {
      const job = createScriptedJob(deps, request, resolve, reject);
      jobs.push(job);
      act(job);
    });
  }

  return {
    jobs,
    cancelled,
    dispatch,
    async cancel(jobId, message, code) {
      cancelled.push({ jobId, message, code });
      deps.audio.drop(jobId);
    },
    waiting: () => waiting,
    job(text) {
      const job = text === undefined ? jobs.at(-1) : jobs.findLast((one) => one.text === text);
      if (job === undefined) throw new Error(`there is no request for ${text ?? 'anything'}`);
      return job;
    },
    setWaiting(count) {
      waiting = count;
    },
    onDispatch(next) {
      act = next;
    },
  };
}

function createScriptedJob(
  { clock, audio, moved }: { clock: Clock; audio: AudioStore; moved: (job: JobRecord) => void },
  request: DispatchRequest,
  resolve: (outcome: DispatchOutcome) => void,
  reject: (fault: Error) => void,
): ScriptedJob {
  const jobId = request.jobId ?? 'job-without-name';
  const text = request.audio?.toString() ?? '';
  let attempt = 1;
  let record: JobRecord = {
    jobId,
    tenantId: request.tenantId,
    sessionId: request.sessionId,
    spec: request.spec,
    state: 'CREATED',
    createdAt: clock.now(),
    deadlineAt: clock.now() + 90_000,
    timeline: [],
  };
  const isHeld = request.audio === undefined || audio.put(jobId, 'acme', request.audio) === 'held';

  function move(state: JobState, more: Partial<JobRecord> = {}): void {
    const entry = { state, at: clock.now(), attempt };
    record = { ...record, state, timeline: [...record.timeline, entry], ...more };
    if (state === 'FINISHED' || state === 'FAILED') audio.drop(jobId);
    moved(record);
  }

  async function answer(outcome: DispatchOutcome): Promise<void> {
    if (outcome.kind === 'refused') audio.drop(jobId);
    resolve(outcome);
    await settled();
  }

  const place = (nodeId = `node-${attempt}`): void => move('DISPATCHED', { fence: { nodeId, attempt } });

  const job: ScriptedJob = {
    request,
    jobId,
    text,
    get record() {
      return record;
    },
    admit: () => request.admitted?.(record),
    async dispatch(nodeId) {
      if (!isHeld) return job.refuse('RATE_LIMITED', { message: 'no space for audio' });
      request.admitted?.(record);
      place(nodeId);
      await answer({ kind: 'dispatched', job: record, isRepeat: false });
    },
    refuse: (code, more) => answer({ kind: 'refused', code, message: `refused: ${code}`, ...more }),
    repeat(other) {
      audio.drop(jobId);
      return answer({ kind: 'dispatched', job: other.record, isRepeat: true });
    },
    async break(fault) {
      audio.drop(jobId);
      reject(fault);
      await settled();
    },
    move,
    retry() {
      move('RETRYING');
      attempt += 1;
      place();
    },
    finish(result = {}) {
      const plain = { textAsr: text, textTranslated: `<${text}>`, ttsAudio: 'AAAA', ttsFormat: 'opus' };
      move('FINISHED', { result: { ...plain, ...result } });
    },
    fail: (code) => move('FAILED', { failure: { code, message: `failed: ${code}` } }),
    async succeed() {
      await job.dispatch();
      move('RUNNING');
      job.finish();
    },
  };
  return job;
}
