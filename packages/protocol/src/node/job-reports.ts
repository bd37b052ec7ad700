/** Messages of a node about a job: job_ack, job_started, asr_partial, job_text, job_result. */
import { type Static, Type } from 'typebox';
import { count, flag, id, label, optional, text, traceId } from '../shared/bounded.ts';
import { extensionMessage, message } from '../shared/message.ts';
import { JobError, resultFields } from '../shared/result-fields.ts';

const attempt = {
  job_id: id('Job'),
  attempt_id: count('Attempt of the job, from 1'),
  node_id: id('Id of the node'),
  session_id: id('Session of the job'),
  trace_id: traceId(),
};

export const JobAck = message(
  'job_ack',
  'The node has accepted the job; sent only by nodes that support job_ack',
  attempt,
);
export type JobAck = Static<typeof JobAck>;

export const JobStarted = message('job_started', 'The node is working on the job', attempt);
export type JobStarted = Static<typeof JobStarted>;

export const NodeAsrPartial = message('asr_partial', 'Text recognised so far', {
  job_id: id('Job'),
  node_id: id('Id of the node'),
  session_id: id('Session of the job'),
  utterance_index: count('Utterance of the session'),
  text: text('Recognised text'),
  is_final: flag('The text is final'),
  trace_id: traceId(),
});
export type NodeAsrPartial = Static<typeof NodeAsrPartial>;

export const JobText = extensionMessage(
  'job_text',
  'Texts of the job that are final, sent before its voice is made; its result repeats them. For nodes that support stage_results',
  {
    ...attempt,
    text_asr: resultFields.text_asr,
    text_translated: resultFields.text_translated,
  },
);
export type JobText = Static<typeof JobText>;

export const JobResult = message('job_result', 'The outcome of an attempt', {
  ...attempt,
  utterance_index: count('Utterance of the session'),
  success: flag('Whether the job succeeded'),
  ...resultFields,
  error: optional(JobError),
  group_id: optional(id('Group of the utterance')),
  part_index: optional(count('Position in the group')),
});
export type JobResult = Static<typeof JobResult>;

/** `error.details` of MODEL_NOT_AVAILABLE; `model_id` and `version` are the old names. */
export const ModelNotAvailableDetails = Type.Object(
  {
    service_id: optional(label('Service that is missing')),
    service_version: optional(label('Version that is missing')),
    reason: optional(text('Why', 4096)),
    model_id: optional(label('Old name of service_id')),
    version: optional(label('Old name of service_version')),
  },
  { title: 'ModelNotAvailableDetails', description: '`error.details` of MODEL_NOT_AVAILABLE' },
);
export type ModelNotAvailableDetails = Static<typeof ModelNotAvailableDetails>;

export const NodeOverloadedDetails = Type.Object(
  { running: optional(count('Jobs the node is working on')), max: optional(count('Slots of the node')) },
  { title: 'NodeOverloadedDetails', description: '`error.details` of NODE_OVERLOADED', extension: true },
);
export type NodeOverloadedDetails = Static<typeof NodeOverloadedDetails>;
