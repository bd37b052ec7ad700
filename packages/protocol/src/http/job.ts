/** Jobs over HTTP: reports of nodes (ack, partial, done, fail), cancelling, and reading. */
import { type Static, Type } from 'typebox';
import {
  anyOf,
  anything,
  count,
  extension,
  flag,
  id,
  label,
  list,
  oneOf,
  optional,
  quantity,
  text,
  traceId,
} from '../shared/bounded.ts';
import { JobError, resultFields } from '../shared/result-fields.ts';

export const JOB_STATES = [
  'CREATED',
  'RESERVED',
  'DISPATCHED',
  'RUNNING',
  'RETRYING',
  'FINISHED',
  'FAILED',
  'RELEASED',
] as const;

export const JobState = anyOf(JOB_STATES, 'State of the job');
export type JobState = Static<typeof JobState>;

const attempt = {
  job_id: id('Job'),
  attempt_id: count('Attempt, from 1', { minimum: 1 }),
  node_id: id('Node that reports'),
};

export const JobAckReport = Type.Object(attempt, {
  title: 'JobAckReport',
  description: 'The node has accepted the job',
});
export type JobAckReport = Static<typeof JobAckReport>;

export const JobPartialReport = Type.Object(
  {
    ...attempt,
    text: text('Text recognised so far; it replaces the earlier one'),
    is_final: optional(flag('The text is final')),
  },
  { title: 'JobPartialReport', description: 'The node has recognised a part of the speech' },
);
export type JobPartialReport = Static<typeof JobPartialReport>;

export const JobDoneReport = Type.Object(
  {
    ...attempt,
    status: optional(oneOf(['ok'], 'Always "ok"')),
    text_asr: extension(resultFields.text_asr),
    text_translated: extension(resultFields.text_translated),
    tts_audio: extension(resultFields.tts_audio),
    tts_format: extension(resultFields.tts_format),
    extra: extension(resultFields.extra),
    processing_time_ms: extension(resultFields.processing_time_ms),
    node_completed_at_ms: extension(resultFields.node_completed_at_ms),
    asr_quality_level: extension(resultFields.asr_quality_level),
    reason_codes: extension(resultFields.reason_codes),
    quality_score: extension(resultFields.quality_score),
    rerun_count: extension(resultFields.rerun_count),
    glossary_used: resultFields.glossary_used,
    segments_meta: extension(resultFields.segments_meta),
    detected_language: resultFields.detected_language,
  },
  { title: 'JobDoneReport', description: 'The job succeeded' },
);
export type JobDoneReport = Static<typeof JobDoneReport>;

export const JobFailReport = Type.Object(
  {
    ...attempt,
    status: optional(oneOf(['error'], 'Always "error"')),
    reason: label('Error code, from the list or of the node’s own'),
    message: extension(text('What went wrong')),
    details: extension(anything('Further data, depending on the reason')),
  },
  { title: 'JobFailReport', description: 'The job failed on this node' },
);
export type JobFailReport = Static<typeof JobFailReport>;

export const JobReportReply = Type.Object(
  {
    ok: Type.Literal(true),
    accepted: extension(flag('False if the report arrived too late to count')),
    reason: extension(label('Why it did not count')),
  },
  { title: 'JobReportReply', description: 'The report was received' },
);
export type JobReportReply = Static<typeof JobReportReply>;

export const JobCancelRequest = Type.Object(
  { reason: optional(text('Why', 4096)) },
  { title: 'JobCancelRequest', description: 'The job is no longer needed' },
);
export type JobCancelRequest = Static<typeof JobCancelRequest>;

export const JobCancelReply = Type.Object(
  {
    ok: Type.Literal(true),
    accepted: flag('False if the job had ended before'),
    state: JobState,
    reason: optional(label('Why it was not cancelled')),
  },
  { title: 'JobCancelReply', description: 'Effect of the cancellation' },
);
export type JobCancelReply = Static<typeof JobCancelReply>;

export const EraseReply = Type.Object(
  {
    ok: Type.Literal(true),
    jobs: count('Jobs whose texts and speech were erased'),
    sessions: count('Sessions that were ended and erased'),
    dead_letters: count('Messages between instances about these jobs that were removed'),
    room_utterances: count('Utterances that were erased from the logs of rooms'),
    done: flag('False: repeat the request, something is left'),
    unreachable: list(id('Instance'), 1_000, 'Instances that did not answer: they may still hold texts'),
  },
  { title: 'EraseReply', description: 'What was erased; it is gone on all instances that answered' },
);
export type EraseReply = Static<typeof EraseReply>;

export const JobStep = Type.Object(
  {
    at_ms: quantity('When (epoch ms)'),
    state: JobState,
    node_id: optional(id('Node')),
    attempt_id: optional(count('Attempt')),
    reason: optional(text('Why', 4096)),
  },
  { title: 'JobStep', description: 'One state change of a job' },
);
export type JobStep = Static<typeof JobStep>;

export const JobOutcome = Type.Object(
  { success: flag('Whether the job succeeded'), ...resultFields, error: optional(JobError) },
  { title: 'JobOutcome', description: 'Result of the job' },
);
export type JobOutcome = Static<typeof JobOutcome>;

export const JOB_OUTCOMES = ['waiting', 'running', 'finished', 'failed', 'cancelled'] as const;

/** The fields of a job in a list. */
export const jobSummary = {
  job_id: id('Job'),
  state: JobState,
  outcome: anyOf(
    JOB_OUTCOMES,
    'waiting: for a node; running: a node has it or is about to get it; cancelled: by its caller, or its session ended',
  ),
  reason: optional(text('Why it failed or waits', 4096)),
  node_id: optional(id('Node that has or had it')),
  attempt_id: count('Attempt; 0 before the first'),
  session_id: id('Session'),
  utterance_index: count('Position of the utterance in the session'),
  request_id: optional(id('As sent by the caller')),
  tenant_id: optional(id('Tenant')),
  trace_id: optional(traceId()),
  src_lang: optional(label('Source language')),
  tgt_lang: optional(label('Target language')),
  lang_a: optional(label('First language of a two-way conversation')),
  lang_b: optional(label('Second one')),
  detected_language: optional(label('Language that the node recognised')),
  created_at_ms: quantity('When it was accepted (epoch ms)'),
  updated_at_ms: quantity('When its state last changed (epoch ms)'),
};

export const JobView = Type.Object(
  {
    ...jobSummary,
    deadline_at_ms: optional(quantity('Deadline (epoch ms)')),
    timeline: list(JobStep, 1024, 'Its state changes, oldest first'),
    result: optional(JobOutcome),
  },
  { title: 'JobView', description: 'A job and its history' },
);
export type JobView = Static<typeof JobView>;
