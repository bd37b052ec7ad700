/** Shared by the contract suites: job records to admit, and the moves of an ordinary job. */
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createIdSource } from '../../src/adapters/system/id-source.ts';
import type { Attempt, JobRecord, JobState } from '../../src/domain/job.ts';
import type { JobResult } from '../../src/domain/job-spec.ts';
import type { Expected, JobChange, JobStore, MoveResult } from '../../src/ports/job-store.ts';
import { fresh } from './harness.ts';

export const RESULT: JobResult = {
  textAsr: '你好',
  textTranslated: 'hello',
  ttsAudio: 'AAAA',
  ttsFormat: 'pcm16',
};

// A store may find the record by the first part of its id, so the ids are real ones.
const ids = createIdSource({ clock: systemClock, digestsRequests: true });

export function draftJob(now: number, parts: Partial<JobRecord> = {}): JobRecord {
  const tenantId = parts.tenantId ?? fresh('tenant');
  return {
    jobId: ids.jobId(tenantId, parts.requestId),
    tenantId,
    sessionId: fresh('session'),
    spec: {
      utteranceIndex: 1,
      sourceLanguage: 'zh',
      targetLanguage: 'en',
      pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: true, use_tone: false },
      audio: { kind: 'none' },
      audioFormat: 'pcm16',
      sampleRate: 16_000,
      traceId: fresh('trace'),
      cut: 'manual',
    },
    state: 'CREATED',
    createdAt: now,
    deadlineAt: now + 90_000,
    timeline: [{ state: 'CREATED', at: now, attempt: 0 }],
    ...parts,
  };
}

/** A job whose request is bound: the same tenant, request and fingerprint make a repeat. */
export const draftRequest = (now: number, parts: Partial<JobRecord> = {}): JobRecord =>
  draftJob(now, { requestId: fresh('request'), fingerprint: 'body-1', ...parts });

export function repeatOf(draft: JobRecord, parts: Partial<JobRecord> = {}): JobRecord {
  const repeat = { ...draft, ...parts };
  return { ...repeat, jobId: ids.jobId(repeat.tenantId, repeat.requestId) };
}

export const expectedOf = (job: JobRecord): Expected => ({
  state: job.state,
  fenceAttempt: job.fence?.attempt ?? 0,
});

export function changeTo(state: JobState, parts: Omit<Partial<JobChange>, 'state'> = {}): JobChange {
  return { state, entry: { state, at: 0, attempt: parts.fence?.attempt ?? 0 }, ...parts };
}

/** Moves the record from its current state. */
export async function moveOn(
  store: JobStore,
  jobId: string,
  state: JobState,
  parts: Omit<Partial<JobChange>, 'state'> = {},
): Promise<MoveResult> {
  const job = await store.get(jobId);
  if (!job) return { kind: 'unknown_job' };
  return store.move(jobId, expectedOf(job), changeTo(state, parts));
}

export async function dispatch(store: JobStore, jobId: string, fence: Attempt): Promise<MoveResult> {
  await moveOn(store, jobId, 'RESERVED', { intent: fence });
  return moveOn(store, jobId, 'DISPATCHED', { fence, intent: null });
}

export async function run(store: JobStore, jobId: string, attempt = 1): Promise<MoveResult> {
  await dispatch(store, jobId, { nodeId: 'node-a', attempt });
  return moveOn(store, jobId, 'RUNNING');
}

export async function finish(
  store: JobStore,
  jobId: string,
  result: JobResult = RESULT,
): Promise<MoveResult> {
  await run(store, jobId);
  return moveOn(store, jobId, 'FINISHED', { result });
}

export const fail = (store: JobStore, jobId: string): Promise<MoveResult> =>
  moveOn(store, jobId, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no answer' } });

const FIELDS: Readonly<Record<keyof JobRecord, true>> = {
  jobId: true,
  tenantId: true,
  sessionId: true,
  requestId: true,
  fingerprint: true,
  spec: true,
  need: true,
  state: true,
  fence: true,
  intent: true,
  audioMs: true,
  createdAt: true,
  deadlineAt: true,
  timeline: true,
  failure: true,
  result: true,
  usage: true,
};

/** A copy of the current record, without fields that a store adds. */
export const plain = (job: JobRecord): JobRecord =>
  structuredClone(
    Object.fromEntries(Object.keys(FIELDS).map((field) => [field, job[field as keyof JobRecord]])),
  ) as unknown as JobRecord;

/** A store that copies every returned record, so that a test compares the record at the time of the call. */
export function plainly(store: JobStore): JobStore {
  const copied = <R extends object>(result: R): R =>
    'job' in result ? { ...result, job: plain(result.job as JobRecord) } : result;
  const found = (job: JobRecord | undefined) => (job === undefined ? undefined : plain(job));
  return {
    admit: async (draft) => copied(await store.admit(draft)),
    move: async (...args) => copied(await store.move(...args)),
    discard: (jobId) => store.discard(jobId),
    erase: (jobId) => store.erase(jobId),
    get: async (jobId) => found(await store.get(jobId)),
    bound: async (...args) => found(await store.bound(...args)),
    async list(query) {
      const page = await store.list(query);
      return { ...page, jobs: page.jobs.map(plain) };
    },
  };
}
