/** Vocabulary of sessions: the outcome of an utterance. Each has exactly one (I5). */
import { isErased } from '../../domain/erased-job.ts';
import type { JobResult } from '../../domain/job-spec.ts';

export const MISSING_REASONS = [
  'gap_timeout',
  'pending_overflow_evict',
  'silence_detected',
  'job_failed',
] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

export type Outcome =
  /** `toNodeMs`: time from sending the assignment to its acknowledgement, if known. */
  | { readonly kind: 'result'; readonly result: JobResult; readonly toNodeMs: number | undefined }
  | { readonly kind: 'missing'; readonly reason: MissingReason };

/** Nodes report these when the audio has no speech, or when its speech belongs to another utterance. */
const EMPTY_REASONS: ReadonlySet<unknown> = new Set(['NO_TEXT_ASSIGNED', 'ASR_EMPTY']);

export function outcomeOf(result: JobResult, toNodeMs: number | undefined): Outcome {
  const { textAsr, textTranslated, ttsAudio, extra } = result;
  if (isErased(result)) return { kind: 'missing', reason: 'job_failed' };
  const isEmpty = textAsr === '' && textTranslated === '' && ttsAudio === '';
  const isSilence = textTranslated === '' && ttsAudio === '' && EMPTY_REASONS.has(extra?.reason);
  return isEmpty || isSilence
    ? { kind: 'missing', reason: 'silence_detected' }
    : { kind: 'result', result, toNodeMs };
}

/** Approximate memory of an outcome without its text and speech. */
const OVERHEAD_BYTES = 512;

export const weightOf = (outcome: Outcome): number =>
  outcome.kind === 'missing'
    ? OVERHEAD_BYTES
    : OVERHEAD_BYTES +
      outcome.result.ttsAudio.length +
      2 * (outcome.result.textAsr.length + outcome.result.textTranslated.length);
