/**
 * Hot path of sessions that want texts while somebody speaks: the audio so far is recognised by a job of low priority, one at a time, and
 * only while no job waits for a slot. Its text is a weak event; nothing depends on it. Pure.
 */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import { ANY, AUTO } from '../../domain/language.ts';
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
}

/** A job of its own for each syllable helps no reader. */
const LEAST_INTERVAL_MS = 500;
const DEFAULT_INTERVAL_MS = 1_000;
/** After that the text would be old. */
const DEADLINE_MS = 5_000;

const ASR_ONLY = { use_asr: true, use_nmt: false, use_tts: false, use_semantic: false, use_tone: false };

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
  };
  step.effects.push({
    kind: 'interim',
    firstSeq: segment.firstSeq,
    request: interimRequest(step, session, segment),
  });
}

/** The utterance is sealed, or will not be. */
export function endInterim(step: Step, session: Session): void {
  if (session.interim?.isOpen === true) step.effects.push({ kind: 'interim_over' });
  session.interim = undefined;
}

type InterimText = Extract<SessionEvent, { kind: 'interim_text' }>;

/** A text that comes after the end of its utterance is dropped: its own job recognises all of it. */
export function noteInterim(step: Step, session: Session, { firstSeq, text }: InterimText): void {
  const { interim, draft } = session;
  if (interim?.firstSeq !== firstSeq || draft === undefined) return;
  interim.isOpen = false;
  if (text === '') return;
  interim.revision += 1;
  const about = { ...draft, index: nextCutIndex(session) };
  send(step, session, { kind: 'partial', about, text, isFinal: false, revision: interim.revision });
}

function interimRequest(step: Step, session: Session, segment: Segment): DispatchRequest {
  const { tenantId, sessionId, opening } = session;
  const { speech } = opening;
  const { source } = speech.languages;
  const isSourceAuto = source === AUTO;
  const required = step.require({ pipeline: ASR_ONLY });
  const audio = audioOf(segment);
  return {
    tenantId,
    sessionId,
    need: {
      tenantId,
      sessionId,
      directions: [{ source: isSourceAuto ? ANY : source, target: source }],
      isSourceAuto,
      usesAsr: required.usesAsr,
      usesNmt: false,
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
      targetLanguage: source,
      pipeline: ASR_ONLY,
      stages: ['asr'],
      isInterim: true,
      audio: { kind: 'held', bytes: audio.length },
      audioFormat: speech.audioFormat,
      sampleRate: speech.sampleRate,
      dialect: speech.dialect,
      traceId: session.draft?.traceId ?? opening.traceId,
      cut: 'pause',
    },
    audio,
    waitMs: 0,
    priority: 'low',
    deadlineAt: step.at + DEADLINE_MS,
  };
}
