/** The result of a job, the same in a job_result, in POST /v1/job/done and in the view of a job. */
import { type Static, Type } from 'typebox';
import {
  anyOf,
  anything,
  base64,
  count,
  extension,
  label,
  list,
  measure,
  optional,
  speech,
  text,
} from './bounded.ts';
import { Extra } from './extra.ts';
import { glossaryUsed } from './glossary.ts';

export const SegmentsMeta = Type.Object(
  {
    count: optional(count('Number of segments')),
    max_gap: optional(measure('Longest gap between segments, in seconds')),
    avg_duration: optional(measure('Mean duration of a segment, in seconds')),
  },
  { title: 'SegmentsMeta', description: 'How the recognised speech was segmented' },
);
export type SegmentsMeta = Static<typeof SegmentsMeta>;

/** The quality of the recognition; passed from the node to the session unchanged. */
export const recognitionQuality = {
  asr_quality_level: optional(anyOf(['good', 'suspect', 'bad'], 'Quality of the recognition')),
  reason_codes: optional(
    list(
      label('Reason'),
      64,
      'Reasons for the quality. The scheduler adds NO_TRANSLATION if no node translated the text.',
    ),
  ),
  quality_score: optional(measure('Quality from 0 to 1')),
  rerun_count: optional(count('How often recognition was repeated')),
  segments_meta: optional(SegmentsMeta),
  detected_language: extension(
    label('Language of the speech as the node recognised it, also if the source language is `auto`'),
  ),
};

export const resultFields = {
  text_asr: optional(speech(text('Recognised text'))),
  text_translated: optional(speech(text('Translated text'))),
  tts_audio: optional(speech(base64('Spoken translation'))),
  tts_format: optional(label('Format of the spoken translation, passed through')),
  extra: optional(speech(Extra)),
  processing_time_ms: optional(measure('Time the node worked on the job')),
  node_completed_at_ms: optional(measure('When the node was done (epoch ms)')),
  glossary_used: glossaryUsed,
  ...recognitionQuality,
};

export const JobError = Type.Object(
  {
    code: label('Error code, from the list or of the node’s own'),
    // A node may quote the text it could not translate.
    message: speech(text('What went wrong')),
    details: optional(speech(anything('Further data, depending on the code'))),
  },
  { title: 'JobError', description: 'Why a job failed' },
);
export type JobError = Static<typeof JobError>;
