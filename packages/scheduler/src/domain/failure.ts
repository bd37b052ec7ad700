/** Vocabulary: what a failed attempt means for the job and for its node. Pure. */

import { namedModel } from './missing-model.ts';
import type { ReportedFailure } from './node-report.ts';

export interface FailureMeaning {
  /** Another node may succeed. */
  readonly isRetryable: boolean;
  /** Uses one of the job's retries. */
  readonly isCounted: boolean;
  /** Counts against the node. */
  readonly blamesNode: boolean;
}

/**
 * Includes AUDIO_LOST: the reporting node holds the fence, so the job has no outcome yet and its audio is still stored. The fault is this
 * node or the way to it.
 */
const ELSEWHERE: FailureMeaning = { isRetryable: true, isCounted: true, blamesNode: true };
/** The node works, but cannot take this job. */
const NOT_HERE: FailureMeaning = { isRetryable: true, isCounted: false, blamesNode: false };
const MARKED_APART: FailureMeaning = { isRetryable: true, isCounted: true, blamesNode: false };
const HOPELESS: FailureMeaning = { isRetryable: false, isCounted: false, blamesNode: false };

/** For an attempt that a holder reports as ended: two heartbeats of its node did not count it, and no result came. */
export const NO_RESULT: ReportedFailure = {
  code: 'NO_RESULT',
  message: 'the node does not count the job among its running ones any more and sent no result',
};

/** Messages that begin like this are about the input: every node would report the same. */
const INPUT_FAULTS = ['ASR_STEP_INVALID_LANG_CONTRACT', 'Unsupported audio format', 'Opus decoding failed'];

/** A node that has seen the job or the utterance before rejects it for good. */
const DUPLICATES = ['DUPLICATE_JOB_ID', 'DUPLICATE_UTTERANCE_INDEX'];

const begins = (text: string, starts: readonly string[]): boolean =>
  starts.some((start) => text.startsWith(start));

/** `isLegacy`: the node acknowledges nothing. Such a node sends no result for a text that repeats the one before: no other node would. */
export function meaningOf(failure: ReportedFailure, isLegacy = false): FailureMeaning {
  if (failure.code === 'NO_RESULT' && isLegacy) return HOPELESS;
  if (begins(failure.message, INPUT_FAULTS) || begins(failure.code, INPUT_FAULTS)) return HOPELESS;
  if (begins(failure.message, DUPLICATES) || begins(failure.code, DUPLICATES)) return NOT_HERE;
  if (failure.code === 'NODE_OVERLOADED') return NOT_HERE;
  // A missing model is marked separately and does not count against the node. Without the name of the model nothing can be marked.
  if (failure.code === 'MODEL_NOT_AVAILABLE' && namedModel(failure.details ?? {}) !== undefined)
    return MARKED_APART;
  return ELSEWHERE;
}
