/** Hot path: turns the body of a dispatch into the engine's request: the need for a node, and the job's spec. Pure. */
import type { TranslateRequest } from '@lingua/protocol';
import type { DispatchRequest } from '../../../domain/dispatch.ts';
import { isOutsideId, type TenantId } from '../../../domain/ids.ts';
import type { JobSpec, Pipeline } from '../../../domain/job-spec.ts';
import type { Need } from '../../../domain/need.ts';
import { type Languages, readLanguages } from '../../../domain/needed-directions.ts';
import type { Require } from '../../../domain/requirements.ts';
import { NO_AUDIO, type ReadAudio, readAudio } from '../../wire/read-audio.ts';
import { canonicalRequest } from './fingerprint.ts';

/** Its target language is named, or was taken from the list of languages. */
export type Body = TranslateRequest & { readonly tgt_lang: string };

export interface DispatchContext {
  readonly tenantId: TenantId;
  /** The Idempotency-Key header. */
  readonly idempotencyKey?: string | undefined;
  readonly utteranceIndex: number;
  /** For requests that send none. */
  readonly sessionId: string;
  readonly traceId: string;
  readonly digest: (text: string) => string;
  /** Derives the required services. */
  readonly require: Require;
  /** Absent: languages are read without a cache. */
  readonly readLanguages?: typeof readLanguages;
}

export type BuiltDispatch =
  | { readonly kind: 'built'; readonly request: DispatchRequest }
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string };

export function buildDispatch(body: Body, context: DispatchContext): BuiltDispatch {
  const bound = readRequestId(body.request_id, context.idempotencyKey);
  if (bound.kind === 'invalid') return bound;
  const read = (context.readLanguages ?? readLanguages)(body);
  if (read.kind === 'invalid') return read;
  const sound = readInput(body, read.languages);
  if (sound.kind === 'invalid') return sound;
  const pipeline = readPipeline(body);
  const isAudioByReference = sound.source.kind === 'reference';
  return {
    kind: 'built',
    request: {
      tenantId: context.tenantId,
      sessionId: body.session_id ?? context.sessionId,
      requestId: bound.requestId,
      fingerprint: bound.requestId === undefined ? undefined : context.digest(canonicalRequest(body)),
      need: readNeed(body, context, read.languages, pipeline, isAudioByReference),
      spec: readSpec(body, context, read.languages, pipeline, sound),
      audio: sound.data,
      waitMs: body.wait_ms ?? 0,
      priority: body.options?.priority,
      ...(body.options?.require_tts === true && { isVoiceRequired: true }),
    },
  };
}

/** Text or audio. */
function readInput(body: Body, { isSourceAuto }: Languages): ReadAudio {
  if (body.text === undefined) return readAudio(body);
  if (body.audio !== undefined || body.audio_ref !== undefined)
    return invalidText('give "text" or audio, not both');
  if (body.text.trim() === '') return invalidText('"text" must not be empty');
  if (body.pipeline?.use_asr === true)
    return invalidText('"text" needs no recognition: use_asr must be false');
  if (isSourceAuto) {
    const message = 'the language of "text" is not recognised: name it in "src_lang"';
    return { kind: 'invalid', field: '/src_lang', message };
  }
  return NO_AUDIO;
}

const invalidText = (message: string) => ({ kind: 'invalid', field: '/text', message }) as const;

type ReadRequestId =
  | { readonly kind: 'request_id'; readonly requestId: string | undefined }
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string };

function readRequestId(named: string | undefined, header: string | undefined): ReadRequestId {
  if (header === undefined) return { kind: 'request_id', requestId: named };
  // The draft standard writes the key in quotes; most clients do not.
  const key = header.replace(/^"(.*)"$/, '$1');
  if (!isOutsideId(key)) {
    return invalid('the Idempotency-Key header must be 1 to 128 letters, digits or . _ : -');
  }
  if (named !== undefined && named !== key) {
    return invalid('"request_id" and the Idempotency-Key header differ; send one of them');
  }
  return { kind: 'request_id', requestId: key };
}

const invalid = (message: string) => ({ kind: 'invalid', field: '/request_id', message }) as const;

const TEXT_ONLY: Pipeline = {
  use_asr: true,
  use_nmt: true,
  use_tts: false,
  use_semantic: true,
  use_tone: false,
};
const WITH_SPEECH: Pipeline = { ...TEXT_ONLY, use_tts: true };
/** Typed text is neither recognised nor repaired. */
const FROM_TEXT: Pipeline = { ...TEXT_ONLY, use_asr: false, use_semantic: false };

/** Default pipeline: all services, speech only if required. Most jobs share one of these two objects. */
function readPipeline({ pipeline, options, text }: Body): Pipeline {
  const mustSpeak = options?.require_tts === true;
  if (pipeline === undefined && text !== undefined) return { ...FROM_TEXT, use_tts: mustSpeak };
  if (pipeline === undefined) return mustSpeak ? WITH_SPEECH : TEXT_ONLY;
  return {
    ...pipeline,
    use_tts: pipeline.use_tts || mustSpeak,
    use_semantic: pipeline.use_semantic ?? false,
    use_tone: pipeline.use_tone ?? false,
  };
}

function readNeed(
  body: Body,
  { tenantId, sessionId, require }: DispatchContext,
  languages: Languages,
  pipeline: Pipeline,
  isAudioByReference: boolean,
): Need {
  const features = body.features as JobSpec['features'] | undefined;
  const required = require({ pipeline, features, services: body.required_services });
  return {
    tenantId,
    sessionId: body.session_id ?? sessionId,
    directions: languages.directions,
    isSourceAuto: languages.isSourceAuto,
    usesAsr: required.usesAsr,
    usesNmt: required.usesNmt,
    usesTts: required.usesTts,
    ...(body.text !== undefined && { isTextInput: true, skipsSemantic: !pipeline.use_semantic }),
    types: required.types,
    services: required.services,
    isAudioByReference,
    isPairUnknown: languages.isPairUnknown,
    // HTTP clients are not paired with a node.
    needsPublicNode: true,
    preferredNodeId: body.options?.preferred_node_id,
    region: body.options?.region,
    features: required.features,
    isStrict: body.options?.strict ?? false,
  };
}

function readSpec(
  body: Body,
  context: DispatchContext,
  languages: Languages,
  pipeline: Pipeline,
  sound: Extract<ReadAudio, { kind: 'audio' }>,
): JobSpec {
  return {
    utteranceIndex: context.utteranceIndex,
    sourceLanguage: languages.source,
    targetLanguage: languages.target,
    dialect: body.dialect,
    features: body.features as JobSpec['features'] | undefined,
    pipeline,
    inputText: body.text,
    audio: sound.source,
    audioFormat: sound.audioFormat,
    sampleRate: sound.sampleRate,
    mode: body.mode,
    languageA: languages.a,
    languageB: languages.b,
    autoLanguages: languages.auto,
    enableStreamingAsr: body.enable_streaming_asr,
    partialUpdateIntervalMs: body.partial_update_interval_ms,
    traceId: body.trace_id === undefined || body.trace_id === '' ? context.traceId : body.trace_id,
    cut: 'manual',
    glossaryId: body.glossary_id,
  };
}
