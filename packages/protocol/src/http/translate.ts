/** Translates one utterance in one call over HTTP. */
import { type Static, Type } from 'typebox';
import {
  count,
  extension,
  flag,
  id,
  label,
  language,
  list,
  oneOf,
  optional,
  text,
} from '../shared/bounded.ts';
import { JobError, resultFields } from '../shared/result-fields.ts';
import { DispatchRequest, ignoredFields, reachedQuota } from './dispatch.ts';
import { JobState } from './job.ts';
import { LONGEST_WAIT_MS } from './path.ts';

/** How long a caller waits that does not send wait_ms. */
export const DEFAULT_WAIT_MS = 30_000;

/** More languages than one request may name would need more jobs than one tenant should have at once. */
export const MOST_TARGETS = 16;

const fields = {
  ...DispatchRequest.properties,
  session_id: optional(id('Session of the utterance; absent: a new one')),
  tgt_lang: optional(language('Target language; absent: the first of tgt_langs')),
  wait_ms: optional(
    count(`How long to wait for the result; ${DEFAULT_WAIT_MS} if absent`, { maximum: LONGEST_WAIT_MS }),
  ),
};

export const TranslateRequest = Type.Object(
  {
    ...fields,
    tgt_langs: extension(
      list(
        language('Target language'),
        MOST_TARGETS,
        'All target languages; if `tgt_lang` is sent, it is one of them: recognised once, translated into each, on any nodes that can. Each has an answer of its own in `targets`; `pipeline` and languages per speaker do not go with it',
      ),
    ),
    text: optional(text('Text to translate, instead of audio; `src_lang` must name its language')),
  },
  {
    title: 'TranslateRequest',
    description: 'An utterance to translate; it needs `audio`, `audio_ref` or `text`',
    anyOf: [{ required: ['audio'] }, { required: ['audio_ref'] }, { required: ['text'] }],
    expects: 'send text, the audio in base64, or a wav file as the body with Content-Type: audio/wav',
  },
);
export type TranslateRequest = Static<typeof TranslateRequest>;

export const TranslateQuery = Type.Object(
  {
    src_lang: optional(fields.src_lang),
    tgt_lang: fields.tgt_lang,
    session_id: fields.session_id,
    request_id: optional(fields.request_id),
    tenant_id: optional(fields.tenant_id),
    wait_ms: fields.wait_ms,
    audio_format: optional(fields.audio_format),
    sample_rate: optional(fields.sample_rate),
    lang_a: optional(fields.lang_a),
    lang_b: optional(fields.lang_b),
    require_tts: optional(flag('Speech output is required; as options.require_tts')),
  },
  {
    title: 'TranslateQuery',
    description: 'Fields of the request in the URL, for bodies that are audio; a field of a JSON body wins',
  },
);
export type TranslateQuery = Static<typeof TranslateQuery>;

const job = {
  job_id: id('Job'),
  request_id: optional(id('As sent')),
  warnings: ignoredFields,
  quota: reachedQuota,
};

const partOf = (what: string) => ({
  state: oneOf(['done', 'failed', 'open'], `State of the ${what}`),
  job_id: optional(id(`Job of the ${what}; absent: no job was accepted`)),
  error: optional(JobError),
  retry_after_ms: optional(count('When a new request may succeed')),
});

const targets = extension(
  list(
    Type.Object(
      {
        tgt_lang: label('Target language'),
        ...partOf('text'),
        text_asr: resultFields.text_asr,
        text_translated: resultFields.text_translated,
        glossary_used: resultFields.glossary_used,
        voice: optional(
          Type.Object(
            {
              ...partOf('voice'),
              tts_audio: resultFields.tts_audio,
              tts_format: resultFields.tts_format,
            },
            { description: 'The spoken translation, if require_tts' },
          ),
        ),
      },
      { title: 'TranslatedTarget', description: 'The answer for one language' },
    ),
    MOST_TARGETS,
    'One answer per language of tgt_langs',
  ),
);

export const TranslateReply = Type.Object(
  {
    ...job,
    src_lang: label('Source language, as requested'),
    tgt_lang: label('Target language'),
    ...resultFields,
    targets,
  },
  { title: 'TranslateReply', description: 'The translation' },
);
export type TranslateReply = Static<typeof TranslateReply>;

export const TranslatePending = Type.Object(
  {
    ...job,
    state: JobState,
    url: text('Path of the job: GET it with ?wait_ms= to wait for the result', 1024),
    targets,
  },
  { title: 'TranslatePending', description: 'The wait has ended before the job, which goes on' },
);
export type TranslatePending = Static<typeof TranslatePending>;
