/** Builds the messages that a node sends about a job. Pure. */
import {
  type JobAck,
  type JobAssign,
  JobResult,
  type JobStarted,
  type JobText,
  type NodeAsrPartial,
  validator,
} from '@lingua/protocol';
import { JobError } from './job-error.ts';
import type { JobOutput, JobTexts } from './node-options.ts';

export const jobAck = (job: JobAssign, nodeId: string): JobAck => ({
  type: 'job_ack',
  ...attempt(job, nodeId),
});

export const jobStarted = (job: JobAssign, nodeId: string): JobStarted => ({
  type: 'job_started',
  ...attempt(job, nodeId),
});

export const asrPartial = (
  job: JobAssign,
  nodeId: string,
  text: string,
  isFinal: boolean,
): NodeAsrPartial => ({
  type: 'asr_partial',
  job_id: job.job_id,
  node_id: nodeId,
  session_id: job.session_id,
  utterance_index: job.utterance_index,
  text: text.slice(0, LONGEST_TEXT),
  is_final: isFinal,
  trace_id: job.trace_id,
});

export const jobText = (
  job: JobAssign,
  nodeId: string,
  { text_asr: recognised, text_translated: translated }: JobTexts,
): JobText => ({
  type: 'job_text',
  ...attempt(job, nodeId),
  ...(recognised !== undefined && { text_asr: recognised }),
  ...(translated !== undefined && { text_translated: translated }),
});

export interface Worked {
  readonly nodeId: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The handler's result is validated here, where its author sees the error: the scheduler would drop the message, and
 * the job would time out.
 */
export function succeeded(job: JobAssign, worked: Worked, output: JobOutput): JobResult {
  if (typeof output !== 'object' || output === null)
    throw new JobError('PROCESSING_ERROR', 'the job handler returned no result');
  const { tts_audio: audio, ...rest } = output;
  const result: JobResult = {
    ...(plain(rest) as typeof rest),
    ...(audio === undefined ? {} : { tts_audio: typeof audio === 'string' ? audio : base64(audio) }),
    ...echo(job, worked),
    success: true,
  };
  const checked = isJobResult(result);
  if (!checked.ok)
    throw new JobError(
      'PROCESSING_ERROR',
      `the job handler returned an invalid result: ${checked.problem.message}`,
    );
  return result;
}

export const failed = (job: JobAssign, worked: Worked, error: JobError): JobResult => ({
  ...echo(job, worked),
  success: false,
  error: {
    code: error.code.slice(0, LONGEST_CODE),
    message: error.message.slice(0, LONGEST_MESSAGE),
    ...(error.details === undefined ? {} : { details: detailsOf(error) }),
  },
});

/** Why an attempt failed: the handler's own JobError, the reason of the abort, or PROCESSING_ERROR. */
export function failureOf(thrown: unknown, signal: AbortSignal): JobError {
  if (thrown instanceof JobError) return thrown;
  if (signal.aborted && signal.reason instanceof JobError) return signal.reason;
  return new JobError('PROCESSING_ERROR', thrown instanceof Error ? thrown.message : String(thrown));
}

const LONGEST_TEXT = 65_536;
const LONGEST_CODE = 256;
const LONGEST_MESSAGE = 4_096;

const isJobResult = validator(JobResult);

/** As JSON will represent it; throws if it cannot be serialised. */
const plain = (value: object): object => JSON.parse(JSON.stringify(value));

function detailsOf(error: JobError): unknown {
  try {
    return JSON.parse(JSON.stringify(error.details) ?? 'null');
  } catch {
    // It cannot be serialised (a cycle, for example); code and message matter more.
    return undefined;
  }
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

const attempt = (job: JobAssign, nodeId: string) => ({
  job_id: job.job_id,
  attempt_id: job.attempt_id,
  node_id: nodeId,
  session_id: job.session_id,
  trace_id: job.trace_id,
});

const echo = (job: JobAssign, worked: Worked) => ({
  type: 'job_result' as const,
  ...attempt(job, worked.nodeId),
  utterance_index: job.utterance_index,
  ...(job.group_id === undefined ? {} : { group_id: job.group_id }),
  ...(job.part_index === undefined ? {} : { part_index: job.part_index }),
  processing_time_ms: Math.max(0, worked.endedAt - worked.startedAt),
  node_completed_at_ms: worked.endedAt,
});
