/**
 * Hot path of sessions that want texts while somebody speaks: the audio so far is recognised by a job of low priority, one at a time, and
 * only while no job waits for a slot; the text is translated likewise. Both texts are weak events; nothing depends on them. Pure.
 */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { JobSpec } from '../../domain/job-spec.ts';
import { ANY, AUTO, type Language } from '../../domain/language.ts';
import { TWO_WAY } from '../../domain/needed-directions.ts';
import type { SessionEvent } from '../event.ts';
import { isLegacy, nextCutIndex, type Session } from '../session.ts';
import { type Step, send } from '../step-context.ts';
import { audioOf, type Segment } from './segment.ts';

export interface Interim {
  /** The first chunk of its utterance. */
  readonly firstSeq: number;
  /** Bytes that the last job had. */
  bytes: number;
  requestedAt: number;
  /** Its job has not ended. */
  isOpen: boolean;
  /** Of the last text. */
  revision: number;
  readonly translation: {
    isOpen: boolean;
    /** When a translation was last requested, per language. */
    readonly requestedAt: Map<Language, number>;
  };
}

/** A job of its own for each syllable helps no reader. */
const LEAST_INTERVAL_MS = 500;
const DEFAULT_INTERVAL_MS = 1_000;
/** A reader cannot follow a translation that changes more often. */
const TRANSLATION_INTERVAL_MS = 2_000;
/** After that the text would be old. */
const DEADLINE_MS = 5_000;

const ASR_ONLY = { use_asr: true, use_nmt: false, use_tts: false, use_semantic: false, use_tone: false };
const NMT_ONLY = { ...ASR_ONLY, use_asr: false, use_nmt: true };

/** After a chunk. */
export function requestInterim(step: Step, session: Session): void {
  const { segment } = session.segmentation;
  const { speech } = session.opening;
  if (speech.enableStreamingAsr !== true || segment === undefined || session.phase !== 'open') return;
  if (
    segment.bytes === 0 ||
    segment.refusal !== undefined ||
    isLegacy(session) ||
    session.draft === undefined
  )
    return;
  const before = session.interim?.firstSeq === segment.firstSeq ? session.interim : undefined;
  const intervalMs = Math.max(LEAST_INTERVAL_MS, speech.partialUpdateIntervalMs ?? DEFAULT_INTERVAL_MS);
  const isEarly = step.at - (before?.requestedAt ?? segment.startedAt) < intervalMs;
  if (isEarly || before?.isOpen === true || before?.bytes === segment.bytes || step.queueShare() > 0) return;
  session.interim = {
    firstSeq: segment.firstSeq,
    bytes: segment.bytes,
    requestedAt: step.at,
    isOpen: true,
    revision: before?.revision ?? 0,
    translation: before?.translation ?? { isOpen: false, requestedAt: new Map() },
  };
  step.effects.push({
    kind: 'interim',
    firstSeq: segment.firstSeq,
    request: interimRequest(step, session, segment),
  });
}

/** The utterance is sealed, or will not be. */
export function endInterim(step: Step, session: Session): void {
  const { isOpen = false, translation } = session.interim ?? {};
  if (isOpen || translation?.isOpen === true) step.effects.push({ kind: 'interim_over' });
  session.interim = undefined;
}

type InterimText = Extract<SessionEvent, { kind: 'interim_text' }>;

/** A text that comes after the end of its utterance is dropped: its own job recognises all of it. */
export function noteInterim(
  step: Step,
  session: Session,
  { firstSeq, text, translation }: InterimText,
): void {
  const { interim, draft } = session;
  if (interim?.firstSeq !== firstSeq || draft === undefined) return;
  if (translation === undefined) interim.isOpen = false;
  else interim.translation.isOpen = false;
  if (text === '') return;
  if (translation === undefined) interim.revision += 1;
  const { language, revision } = translation ?? { language: undefined, revision: interim.revision };
  const about = { ...draft, index: nextCutIndex(session) };
  send(step, session, { kind: 'partial', about, text, isFinal: false, revision, language });
  if (translation === undefined) requestTranslation(step, session, interim, text);
}

/** Of the languages, the one whose translation is oldest. */
function requestTranslation(step: Step, session: Session, interim: Interim, text: string): void {
  const { languages, targets, mode } = session.opening.speech;
  const { isOpen, requestedAt } = interim.translation;
  // Without a named source the direction is not known yet.
  if (isOpen || step.queueShare() > 0 || languages.source === AUTO || mode === TWO_WAY) return;
  const wanted = targets?.map(({ language }) => language) ?? [languages.target];
  const ageOf = (language: Language): number =>
    step.at - (requestedAt.get(language) ?? Number.NEGATIVE_INFINITY);
  const [oldest] = wanted
    .filter((language) => language !== languages.source && ageOf(language) >= TRANSLATION_INTERVAL_MS)
    .sort((one, other) => ageOf(other) - ageOf(one));
  if (oldest === undefined) return;
  requestedAt.set(oldest, step.at);
  interim.translation.isOpen = true;
  step.effects.push({
    kind: 'interim',
    firstSeq: interim.firstSeq,
    request: translationRequest(step, session, text, oldest),
    translation: { language: oldest, revision: interim.revision },
  });
}

function interimRequest(step: Step, session: Session, segment: Segment): DispatchRequest {
  const { source } = session.opening.speech.languages;
  const audio = audioOf(segment);
  return {
    ...unfinished(step, session, { pipeline: ASR_ONLY, stages: ['asr'], target: source }, audio.length),
    audio,
  };
}

function translationRequest(step: Step, session: Session, text: string, target: Language): DispatchRequest {
  const request = unfinished(step, session, { pipeline: NMT_ONLY, stages: ['nmt'], target });
  return {
    ...request,
    need: { ...request.need, isTextInput: true },
    spec: { ...request.spec, inputText: text, glossaryId: session.opening.speech.glossaryId },
  };
}

/** `bytes`: of the audio; absent: its input is a text. */
function unfinished(
  step: Step,
  session: Session,
  { pipeline, stages, target }: Pick<JobSpec, 'pipeline' | 'stages'> & { readonly target: Language },
  bytes?: number,
): DispatchRequest {
  const { tenantId, sessionId, opening } = session;
  const { speech } = opening;
  const { source } = speech.languages;
  const isSourceAuto = source === AUTO;
  const required = step.require({ pipeline });
  return {
    tenantId,
    sessionId,
    need: {
      tenantId,
      sessionId,
      directions: [{ source: isSourceAuto ? ANY : source, target }],
      isSourceAuto,
      usesAsr: required.usesAsr,
      usesNmt: required.usesNmt,
      usesTts: false,
      skipsSemantic: true,
      isPartial: true,
      isInterim: true,
      types: [],
      services: required.services,
      isAudioByReference: false,
      isPairUnknown: isSourceAuto,
      needsPublicNode: true,
      isStrict: false,
      region: opening.region,
      preferredPoolId: session.pool?.poolId,
    },
    spec: {
      utteranceIndex: nextCutIndex(session),
      sourceLanguage: source,
      targetLanguage: target,
      pipeline,
      stages,
      isInterim: true,
      audio: bytes === undefined ? { kind: 'none' } : { kind: 'held', bytes },
      audioFormat: speech.audioFormat,
      sampleRate: speech.sampleRate,
      dialect: speech.dialect,
      traceId: session.draft?.traceId ?? opening.traceId,
      cut: 'pause',
    },
    waitMs: 0,
    priority: 'low',
    deadlineAt: step.at + DEADLINE_MS,
  };
}
