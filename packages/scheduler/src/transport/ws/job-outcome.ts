/** job_result, from the wire's words to the job engine's. Pure. */
import type { JobResult as JobResultMessage } from '@lingua/protocol';
import type { JobResult } from '../../domain/job-spec.ts';
import type { ReportedFailure } from '../../runtime/job-service.ts';
import { given } from '../http/given.ts';

export function toResult(message: JobResultMessage): JobResult {
  const details = given({
    group_id: message.group_id,
    part_index: message.part_index,
    node_completed_at_ms: message.node_completed_at_ms,
    asr_quality_level: message.asr_quality_level,
    reason_codes: message.reason_codes,
    quality_score: message.quality_score,
    rerun_count: message.rerun_count,
    segments_meta: message.segments_meta,
  });
  return {
    textAsr: message.text_asr ?? '',
    textTranslated: message.text_translated ?? '',
    ttsAudio: message.tts_audio ?? '',
    ttsFormat: message.tts_format ?? '',
    ...given({
      processingTimeMs: message.processing_time_ms,
      extra: message.extra,
      details: Object.keys(details).length === 0 ? undefined : details,
    }),
  };
}

export function toFailure(message: JobResultMessage): ReportedFailure {
  const { error } = message;
  if (error === undefined) return { code: 'PROCESSING_ERROR', message: 'the node gave no reason' };
  return { code: error.code, message: error.message, ...given({ details: record(error.details) }) };
}

/** Nodes in the field answer an utterance they merged into another with that other's attempt_id. */
export const mayNameAnotherAttempt = (message: JobResultMessage): boolean =>
  message.extra?.reason === 'NO_TEXT_ASSIGNED';

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
