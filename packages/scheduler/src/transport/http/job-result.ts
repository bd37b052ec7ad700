/** What a node reports of a finished or failed job, in the engine's words. Pure. */
import type { JobDoneReport, JobFailReport } from '@lingua/protocol';
import type { JobResult } from '../../domain/job-spec.ts';
import type { ReportedFailure } from '../../runtime/job-service.ts';
import { given } from './given.ts';

export function readResult(report: JobDoneReport): JobResult {
  return given({
    textAsr: report.text_asr ?? '',
    textTranslated: report.text_translated ?? '',
    ttsAudio: report.tts_audio ?? '',
    ttsFormat: report.tts_format ?? '',
    processingTimeMs: report.processing_time_ms,
    extra: report.extra,
    details: given({
      node_completed_at_ms: report.node_completed_at_ms,
      asr_quality_level: report.asr_quality_level,
      reason_codes: report.reason_codes,
      quality_score: report.quality_score,
      rerun_count: report.rerun_count,
      segments_meta: report.segments_meta,
    }),
  });
}

export const readFailure = (report: JobFailReport): ReportedFailure =>
  given({
    code: report.reason,
    message: report.message ?? report.reason,
    details: isRecord(report.details) ? report.details : undefined,
  });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
