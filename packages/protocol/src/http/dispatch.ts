/** Submits an utterance over HTTP. */
import { type Static, Type } from 'typebox';
import { AudioFormat, SampleRate } from '../shared/audio.ts';
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
  serviceName,
  text,
  traceId,
} from '../shared/bounded.ts';
import { FeatureFlags } from '../shared/feature-flags.ts';
import { glossaryId } from '../shared/glossary.ts';
import { languageMode } from '../shared/language-mode.ts';
import { Pipeline } from '../shared/pipeline.ts';
import { QuotaUse } from '../shared/quota.ts';
import { JobState } from './job.ts';
import { LONGEST_WAIT_MS } from './path.ts';

export const DispatchOptions = Type.Object(
  {
    require_tts: optional(flag('Speech output is required')),
    preferred_node_id: optional(id('Node to try first')),
    region: extension(id('Region to which the node should be near; absent: that of the instance')),
    strict: extension(flag('Refuse instead of using another node than the preferred one')),
    priority: extension(
      oneOf(
        ['high', 'normal', 'low'],
        'Priority while the job waits for a node; default and upper limit is the priority configured for the tenant',
      ),
    ),
  },
  { title: 'DispatchOptions', description: 'How to choose the node' },
);
export type DispatchOptions = Static<typeof DispatchOptions>;

const requiredServices = list(
  serviceName('Type of service (asr, nmt, tts, tone, semantic, phonetic, punctuation), or id of a service'),
  16,
  'Services that must be ready on the node, in addition to those of the pipeline',
);

export const DispatchRequest = Type.Object(
  {
    session_id: id('Session of the utterance'),
    src_lang: language('Source language, or `auto`'),
    tgt_lang: language('Target language'),
    audio_ref: optional(text('Address of the audio; opaque to the scheduler', 4096)),
    options: optional(DispatchOptions),
    request_id: extension(id('Makes a repeat harmless; also the Idempotency-Key header')),
    tenant_id: extension(id('Tenant; must agree with the credential')),
    wait_ms: extension(count('How long to wait for a free node', { maximum: LONGEST_WAIT_MS })),
    audio: extension(base64('The audio itself, instead of audio_ref')),
    audio_format: extension(AudioFormat),
    sample_rate: extension(SampleRate),
    mode: extension(languageMode.mode),
    lang_a: extension(languageMode.lang_a),
    lang_b: extension(languageMode.lang_b),
    auto_langs: extension(languageMode.auto_langs),
    enable_streaming_asr: extension(flag('Send partial texts, to GET /v1/job/:id/events')),
    partial_update_interval_ms: extension(count('Interval of partial texts')),
    dialect: extension(label('Dialect of the speaker')),
    features: extension(FeatureFlags),
    pipeline: extension(Pipeline),
    trace_id: extension(traceId()),
    required_services: extension(requiredServices),
    glossary_id: glossaryId,
  },
  {
    title: 'DispatchRequest',
    description: 'An utterance to translate; it needs `audio_ref` or `audio`',
    anyOf: [{ required: ['audio_ref'] }, { required: ['audio'] }],
    expects: 'send the address of the audio, or the audio itself in base64',
  },
);
export type DispatchRequest = Static<typeof DispatchRequest>;

export const ignoredFields = extension(
  list(text('Field and where it belongs', 512), 8, 'Fields of the request that were ignored'),
);

export const reachedQuota = extension(QuotaUse);

export const DispatchReply = Type.Object(
  {
    job_id: id('Job'),
    node_id: optional(id('Node of the job; absent if a repeat finds its job waiting for a node')),
    attempt_id: optional(count('Attempt, from 1; absent like node_id', { minimum: 1 })),
    request_id: extension(id('As sent')),
    utterance_index: extension(count('Position allocated in the session')),
    state: extension(JobState),
    warnings: ignoredFields,
    quota: reachedQuota,
  },
  { title: 'DispatchReply', description: 'The utterance was sent to a node' },
);
export type DispatchReply = Static<typeof DispatchReply>;
