/** Translates a node's report of the end of a job, over its socket or HTTP, to the engine's types. Pure. */
import type { JobDoneReport, JobFailReport, JobResult as JobResultMessage } from '@lingua/protocol';
import type { JobResult } from '../../domain/job-spec.ts';
import type { ReportedFailure } from '../../domain/node-report.ts';
import { omitUndefined } from './omit-undefined.ts';

export function toResult(report: JobResultMessage | JobDoneReport): JobResult {
  const details = omitUndefined({
    ...('group_id' in report && { group_id: report.group_id }),
    ...('part_index' in report && { part_index: report.part_index }),
    node_completed_at_ms: report.node_completed_at_ms,
    asr_quality_level: report.asr_quality_level,
    reason_codes: report.reason_codes,
    quality_score: report.quality_score,
    rerun_count: report.rerun_count,
    segments_meta: report.segments_meta,
    glossary_used: report.glossary_used,
    detected_language: report.detected_language ?? mostProbable(report.extra?.language_probabilities),
  });
  return {
    textAsr: report.text_asr ?? '',
    textTranslated: report.text_translated ?? '',
    ttsAudio: report.tts_audio ?? '',
    ttsFormat: report.tts_format ?? '',
    ...omitUndefined({
      processingTimeMs: report.processing_time_ms,
      extra: report.extra,
      details: Object.keys(details).length === 0 ? undefined : details,
    }),
  };
}

/** Nodes that do not name the language may send the probability of each. */
function mostProbable(probabilities: Readonly<Record<string, number>> = {}): string | undefined {
  let best: string | undefined;
  for (const [language, probability] of Object.entries(probabilities)) {
    if (best === undefined || probability > (probabilities[best] ?? 0)) best = language;
  }
  return best;
}

/** For a job_result without success. */
export function toFailure({ error }: JobResultMessage): ReportedFailure {
  if (error === undefined) return { code: 'PROCESSING_ERROR', message: 'the node gave no reason' };
  return { code: error.code, message: error.message, ...omitUndefined({ details: record(error.details) }) };
}

/** For POST /v1/job/fail. */
export const toReportedFailure = ({ reason, message, details }: JobFailReport): ReportedFailure => ({
  code: reason,
  message: message ?? reason,
  ...omitUndefined({ details: record(details) }),
});

/** Legacy nodes answer an utterance that they merged into another with the attempt_id of that other one. */
export const mayNameAnotherAttempt = (message: JobResultMessage): boolean =>
  message.extra?.reason === 'NO_TEXT_ASSIGNED';

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
