/** A job as the node receives it, over its socket, its endpoint or the mailbox. */
import { type Static, Type } from 'typebox';
import { AudioFormat, AudioRef, SampleRate } from '../shared/audio.ts';
import {
  base64,
  count,
  extension,
  flag,
  id,
  label,
  language,
  list,
  oneOf,
  optional,
  quantity,
  text,
  traceId,
} from '../shared/bounded.ts';
import { FeatureFlags } from '../shared/feature-flags.ts';
import { JobGlossary } from '../shared/glossary.ts';
import { languageMode, streamingAsr } from '../shared/language-mode.ts';
import { message } from '../shared/message.ts';
import { Pipeline } from '../shared/pipeline.ts';

export const JobAssign = message('job_assign', 'A job for the node', {
  job_id: id('Id of the job; never reused'),
  attempt_id: count('Attempt of the job, from 1', { minimum: 1 }),
  session_id: id('Session of the job'),
  utterance_index: count('Utterance of the session'),
  src_lang: language('Source language, or `auto`'),
  tgt_lang: language('Target language'),
  dialect: optional(label('Dialect of the speaker')),
  features: optional(FeatureFlags),
  pipeline: Pipeline,
  stages: extension(
    list(
      oneOf(['asr', 'semantic', 'nmt', 'tts'], 'Stage'),
      4,
      'What this job does of the work for an utterance, in order; absent: all that pipeline says',
    ),
  ),
  input_text: extension(text('Text to work on instead of audio; only for nodes that support text_input')),
  audio: base64('Audio of the utterance; empty if audio_ref or input_text is given'),
  audio_ref: extension(AudioRef),
  audio_format: AudioFormat,
  sample_rate: SampleRate,
  ...languageMode,
  ...streamingAsr,
  trace_id: traceId(),
  group_id: optional(id('Group of the utterance')),
  part_index: optional(count('Position in the group')),
  context_text: optional(text('Text before this utterance')),
  padding_ms: optional(quantity('Silence to append')),
  is_manual_cut: optional(flag('The speaker ended the utterance; always true for legacy nodes')),
  is_pause_triggered: optional(flag('A pause ended the utterance')),
  is_timeout_triggered: optional(flag('A timeout ended the utterance')),
  is_max_duration_triggered: optional(flag('The utterance was cut because of its length')),
  turn_id: optional(id('Shared by the parts of one long utterance')),
  lid: optional(
    Type.Object(
      { candidates: list(language('Language'), 64, 'Candidate languages') },
      { description: 'Language identification' },
    ),
  ),
  room_id: optional(id('Room of the session')),
  glossary: extension(JobGlossary),
  deadline_ms: extension(quantity('When the result becomes useless (epoch ms)')),
});
export type JobAssign = Static<typeof JobAssign>;
