/** Vocabulary: what a failed attempt means for the job and for the node. Pure. */

import { namedModel } from './missing-model.ts';
import type { ReportedFailure } from './node-report.ts';

export interface FailureMeaning {
  /** Another node may do better. */
  readonly isRetryable: boolean;
  /** Uses up one of the job's retries. */
  readonly isCounted: boolean;
  /** Says something bad of the node. */
  readonly blamesNode: boolean;
}

/**
 * AUDIO_LOST among them: whoever says so holds the fence, so the job has no outcome and its audio is still held. What did not
 * get through is this node, or the way to it.
 */
const ELSEWHERE: FailureMeaning = { isRetryable: true, isCounted: true, blamesNode: true };
/** The node is fine, it just cannot take this one. */
const NOT_HERE: FailureMeaning = { isRetryable: true, isCounted: false, blamesNode: false };
const MARKED_APART: FailureMeaning = { isRetryable: true, isCounted: true, blamesNode: false };
const HOPELESS: FailureMeaning = { isRetryable: false, isCounted: false, blamesNode: false };

/** How messages begin that are about the input: every node would say the same. */
const INPUT_FAULTS = ['ASR_STEP_INVALID_LANG_CONTRACT', 'Unsupported audio format', 'Opus decoding failed'];

/** A node that has seen the job, or that utterance, refuses it for good. */
const DUPLICATES = ['DUPLICATE_JOB_ID', 'DUPLICATE_UTTERANCE_INDEX'];

const begins = (text: string, starts: readonly string[]): boolean =>
  starts.some((start) => text.startsWith(start));

export function meaningOf(failure: ReportedFailure): FailureMeaning {
  if (begins(failure.message, INPUT_FAULTS) || begins(failure.code, INPUT_FAULTS)) return HOPELESS;
  if (begins(failure.message, DUPLICATES) || begins(failure.code, DUPLICATES)) return NOT_HERE;
  if (failure.code === 'NODE_OVERLOADED') return NOT_HERE;
  // The lack of one model is marked apart; it does not make the node a bad one. Of one without a name nothing can be.
  if (failure.code === 'MODEL_NOT_AVAILABLE' && namedModel(failure.details ?? {}) !== undefined)
    return MARKED_APART;
  return ELSEWHERE;
}
