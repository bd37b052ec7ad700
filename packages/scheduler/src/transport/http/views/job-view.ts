/** Prints a job for callers and operators. Pure. */
import type { JobOutcome, JobSummary, JobView } from '@lingua/protocol';
import type { JobRecord } from '../../../domain/job.ts';
import { jobOutcome, jobReason } from '../../../domain/job-query.ts';
import type { JobResult } from '../../../domain/job-spec.ts';
import { TWO_WAY } from '../../../domain/needed-directions.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export function viewJob(job: JobRecord): JobView {
  return omitUndefined({
    ...summarizeJob(job),
    deadline_at_ms: job.deadlineAt,
    timeline: job.timeline.map(({ at, state, nodeId, attempt, reason }) =>
      omitUndefined({ at_ms: at, state, node_id: nodeId, attempt_id: attempt, reason }),
    ),
    result: outcomeOf(job),
  });
}

export function summarizeJob(job: JobRecord): JobSummary {
  const where = job.fence ?? job.intent;
  const last = job.timeline.at(-1);
  const isTwoWay = job.spec.mode === TWO_WAY;
  return omitUndefined({
    job_id: job.jobId,
    state: job.state,
    outcome: jobOutcome(job),
    reason: jobReason(job),
    node_id: where?.nodeId,
    attempt_id: where?.attempt ?? 0,
    session_id: job.sessionId,
    utterance_index: job.spec.utteranceIndex,
    request_id: job.requestId,
    tenant_id: job.tenantId,
    trace_id: job.spec.traceId,
    src_lang: job.spec.sourceLanguage,
    tgt_lang: job.spec.targetLanguage,
    lang_a: isTwoWay ? job.spec.languageA : undefined,
    lang_b: isTwoWay ? job.spec.languageB : undefined,
    detected_language: job.result?.details?.detected_language as string | undefined,
    created_at_ms: job.createdAt,
    updated_at_ms: last?.at ?? job.createdAt,
  });
}

function outcomeOf({ result, failure }: JobRecord): JobOutcome | undefined {
  if (result !== undefined) return { success: true, ...viewResult(result) };
  return failure === undefined ? undefined : { success: false, error: { ...failure } };
}

export const viewResult = (result: JobResult): Omit<JobOutcome, 'success' | 'error'> =>
  omitUndefined({
    ...result.details,
    text_asr: result.textAsr,
    text_translated: result.textTranslated,
    tts_audio: result.ttsAudio,
    tts_format: result.ttsFormat,
    processing_time_ms: result.processingTimeMs,
    extra: result.extra,
  });
