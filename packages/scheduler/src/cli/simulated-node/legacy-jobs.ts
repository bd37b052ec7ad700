/** How legacy nodes check a job before they work on it, and their answers. Pure, except for the jobs that it remembers. */
import type { JobAssign, JobResult } from '@lingua/protocol';

export type AssignmentDecision =
  | { readonly kind: 'work' }
  /** The node never answers. */
  | { readonly kind: 'ignore' }
  | { readonly kind: 'refuse'; readonly message: string };

export interface LegacyJobs {
  judge(job: JobAssign): AssignmentDecision;
  /** True if the session had a later utterance: then the translation stays empty. */
  isOvertaken(job: JobAssign): boolean;
}

/** Remembers job ids until the process ends, like the original. */
export function createLegacyJobs(): LegacyJobs {
  const jobIds = new Set<string>();
  const utterances = new Set<string>();
  const latest = new Map<string, number>();

  return {
    judge(job) {
      const utterance = `${job.session_id} ${job.utterance_index}`;
      if (jobIds.has(job.job_id)) return refuse('DUPLICATE_JOB_ID');
      if (utterances.has(utterance)) return refuse('DUPLICATE_UTTERANCE_INDEX');
      jobIds.add(job.job_id);
      utterances.add(utterance);
      latest.set(job.session_id, Math.max(latest.get(job.session_id) ?? 0, job.utterance_index));
      const flaw = flawOf(job);
      if (flaw !== undefined) return refuse(flaw);
      return job.is_manual_cut === true ? { kind: 'work' } : { kind: 'ignore' };
    },
    isOvertaken: (job) => (latest.get(job.session_id) ?? 0) > job.utterance_index,
  };
}

/** No group_id, part_index or time of completion: these nodes do not know them. */
export const legacyResult = (
  job: JobAssign,
  nodeId: string,
  rest: Partial<JobResult> & Pick<JobResult, 'success'>,
): JobResult => ({
  type: 'job_result',
  job_id: job.job_id,
  attempt_id: job.attempt_id,
  node_id: nodeId,
  session_id: job.session_id,
  utterance_index: job.utterance_index,
  trace_id: job.trace_id,
  ...rest,
});

const refuse = (message: string): AssignmentDecision => ({ kind: 'refuse', message });

function flawOf(job: JobAssign): string | undefined {
  if (job.src_lang === 'auto' && (job.lang_a === undefined || job.lang_b === undefined))
    return 'ASR_STEP_INVALID_LANG_CONTRACT: auto needs lang_a and lang_b';
  if (job.audio_format === 'wav') return 'Unsupported audio format: wav';
  return job.audio === '' ? 'Opus decoding failed: no audio' : undefined;
}
