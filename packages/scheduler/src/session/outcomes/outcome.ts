/** Vocabulary of sessions: what becomes of an utterance. Exactly one of these each (I5). */
import type { JobResult } from '../../domain/job-spec.ts';

export const MISSING_REASONS = [
  'gap_timeout',
  'pending_overflow_evict',
  'silence_detected',
  'job_failed',
] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

export type Outcome =
  /** `toNodeMs`: how long its assignment was under way, as far as is known. */
  | { readonly kind: 'result'; readonly result: JobResult; readonly toNodeMs: number | undefined }
  | { readonly kind: 'missing'; readonly reason: MissingReason };

/** Nodes answer so when nothing was said, or when what was said went into another utterance. */
const EMPTY_REASONS: ReadonlySet<unknown> = new Set(['NO_TEXT_ASSIGNED', 'ASR_EMPTY']);

export function outcomeOf(result: JobResult, toNodeMs: number | undefined): Outcome {
  const { textAsr, textTranslated, ttsAudio, extra } = result;
  const isEmpty = textAsr === '' && textTranslated === '' && ttsAudio === '';
  const isSilence = textTranslated === '' && ttsAudio === '' && EMPTY_REASONS.has(extra?.reason);
  return isEmpty || isSilence
    ? { kind: 'missing', reason: 'silence_detected' }
    : { kind: 'result', result, toNodeMs };
}

/** What keeping it costs, roughly; speech is nearly all of it. */
const OVERHEAD_BYTES = 512;

export const weightOf = (outcome: Outcome): number =>
  outcome.kind === 'missing'
    ? OVERHEAD_BYTES
    : OVERHEAD_BYTES +
      outcome.result.ttsAudio.length +
      2 * (outcome.result.textAsr.length + outcome.result.textTranslated.length);
