/** Hot path: accepts audio. Cuts chunks into utterances and makes jobs of utterances; refuses audio with an error message. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { Chunk, GivenUtterance } from '../event.ts';
import { noteChange } from '../handover/saved-state.ts';
import { fail, resendAccepted } from '../outcomes/progress.ts';
import type { SessionOutput } from '../output.ts';
import type { Voice } from '../rooms/speak-in-room.ts';
import { isLegacy, nextCutIndex, type Session, type Utterance, understands } from '../session.ts';
import { count, type Step, send, sendUiEvent } from '../step-context.ts';
import { claimAudioBudget, releaseBudget } from './audio-budget.ts';
import { bindingName, fingerprintOf } from './binding.ts';
import { cutOf, effectOf, type JobInput, WHOLE_PIPELINE } from './build-job.ts';
import { joinGroup } from './groups.ts';
import { endInterim, requestInterim } from './interim.ts';
import { newRenditions, newUtterance, partsOf, planName, type Received } from './new-utterance.ts';
import { choosePool } from './preferred-pool.ts';
import { takeResentChunk, takeResentUtterance } from './reattach.ts';
import { type AudioRefusal, audioOf, type Segment } from './segment.ts';
import { type Sealed, type SealReason, type SegmentationEvent, segment } from './segmentation.ts';

/** Request ids that a session remembers; clients repeat a request soon or never. */
const MAX_REQUESTS = 64;
/** After this long, chunks behind a refused one are accepted although the client did not send it again. */
const REFUSED_PATIENCE_MS = 10_000;
/** Clients may choose any index; larger ones are lowered to this, so that there are safe integers after it. */
const LARGEST_GIVEN_INDEX = 2 ** 52;

export function takeChunk(step: Step, session: Session, given: Chunk) {
  const { seq } = given;
  if (session.phase === 'closing') return refuse(step, session, 'SESSION_CLOSED', 'the session is closing');
  // The client got `server_draining` and sends this chunk again to the next instance.
  if (session.phase === 'draining' && understands(session, 'server_draining')) return;
  if (understands(session, 'utterance_accepted') && seq <= session.lastSeq) {
    cutStream(step, session, { kind: 'repeated' });
    const refusal = session.refusals.get(seq);
    if (refusal !== undefined) return send(step, session, refusal);
    if (takeResentChunk(step, session, given)) return;
    return count(step, 'scheduler_session_messages_dropped_total', { reason: 'repeated_chunk' });
  }
  const chunk = refuseTooLong(step, given);
  if (
    isBehindRefused(step, session, chunk) ||
    isBacklogged(step, session) ||
    !claimAudioBudget(step, session, chunk.audio?.length ?? 0)
  ) {
    return refuseAudio(step, session, chunk);
  }
  session.refused = undefined;
  session.lastSeq = Math.max(session.lastSeq, seq);
  if (chunk.clientTimestampMs !== undefined) {
    session.webToSchedulerMs = Math.max(0, step.at - chunk.clientTimestampMs);
  }
  cutStream(step, session, chunk);
  requestInterim(step, session);
}

/** Passes an event to the segmentation and accepts the utterances that it seals. */
export function cutStream(step: Step, session: Session, event: SegmentationEvent): void {
  const before = session.segmentation.segment;
  const { state, sealed } = segment(
    session.segmentation,
    event,
    step.at,
    step.settings.segmentation,
    isLegacy(session),
  );
  session.segmentation = state;
  if (sealed.length > 0) endInterim(step, session);
  for (const one of sealed) acceptSealed(step, session, one);
  if (state.segment !== undefined && (before === undefined || sealed.length > 0)) {
    begin(step, session, state.segment);
  }
}

/** The utterance gets its ids with its first audio, so that the client can be informed of it. */
function begin(step: Step, session: Session, { requestId, firstSeq }: Segment): void {
  const bound = requestId === undefined ? undefined : bindingName(requestId, firstSeq);
  session.draft = { jobId: step.ids.jobId(session.tenantId, bound), traceId: step.ids.traceId() };
  sendUiEvent(step, session, { ...session.draft, index: nextCutIndex(session) }, 'INPUT_STARTED', step.at);
}

/** The client sends a refused chunk and all later ones again. A later one accepted now would make the refused one look repeated. */
function isBehindRefused(step: Step, { refused }: Session, { seq }: Chunk): boolean {
  return refused !== undefined && seq > refused.seq && step.at - refused.at < REFUSED_PATIENCE_MS;
}

/** Bounds the outcomes whose delivery waits for a save while the store is down. */
const isBacklogged = ({ settings }: Step, { isShared, delivery }: Session): boolean =>
  isShared && new Set(delivery.waiting.map(({ index }) => index)).size >= 2 * settings.maxUtterances;

/** The audio so far is still translated: half a sentence is better than none. */
function refuseAudio(step: Step, session: Session, chunk: Chunk): void {
  const { seq } = chunk;
  // Set again at each try, so that the wait restarts while the client keeps sending it.
  if (understands(session, 'utterance_accepted') && !isBehindRefused(step, session, chunk))
    session.refused = { seq, at: step.at };
  cutStream(step, session, { kind: 'cut', reason: 'limit' });
  count(step, 'scheduler_session_messages_dropped_total', { reason: 'audio_limit' });
  const message = 'no space for more audio; earlier audio is still translated';
  send(step, session, { kind: 'error', code: 'RATE_LIMITED', message, details: { seq } });
}

/** It would never fit: the client must not send it again. */
const tooLong = ({ settings }: Step, path: string): AudioRefusal => ({
  path,
  message: `the audio is longer than a session may have (${settings.maxAudioBytes} bytes); send it in parts`,
});

const refuseTooLong = (step: Step, chunk: Chunk): Chunk =>
  (chunk.audio?.length ?? 0) > step.settings.maxAudioBytes
    ? { ...chunk, audio: undefined, refusal: tooLong(step, '/payload') }
    : chunk;

/** The answer to audio that can never be accepted: exactly one error, which names all of it. */
function reject(
  step: Step,
  session: Session,
  { path, message }: AudioRefusal,
  about: Readonly<Record<string, unknown>>,
): SessionOutput {
  count(step, 'scheduler_session_messages_dropped_total', { reason: 'invalid_audio' });
  const output = { kind: 'error', code: 'INVALID_MESSAGE', message, details: { ...about, path } } as const;
  send(step, session, output);
  return output;
}

function rejectSealed(step: Step, session: Session, sealed: Segment, refusal: AudioRefusal): void {
  const { requestId, firstSeq, lastSeq } = sealed;
  session.draft = undefined;
  releaseBudget(step, session, sealed.bytes);
  const about = {
    ...(requestId !== undefined && { request_id: requestId }),
    first_seq: firstSeq,
    last_seq: lastSeq,
  };
  session.refusals.set(lastSeq, reject(step, session, refusal, about));
}

/** A legacy client would show an error as an alert, which late frames do not deserve. */
function refuse(step: Step, session: Session, code: ErrorCode, message: string): void {
  count(step, 'scheduler_session_messages_dropped_total', { reason: code.toLowerCase() });
  if (!isLegacy(session)) send(step, session, { kind: 'error', code, message });
}

function acceptSealed(step: Step, session: Session, { segment: sealed, reason }: Sealed): void {
  const { settings } = step;
  if (sealed.refusal !== undefined) {
    rejectSealed(step, session, sealed, sealed.refusal);
    return;
  }
  // The segment began and ended in one step.
  if (session.draft === undefined) begin(step, session, sealed);
  count(step, 'scheduler_web_task_finalized_total', { reason: reason === 'final' ? 'send' : reason });
  step.audio.unclaim(session.tenantId, sealed.bytes);
  const audio = audioOf(sealed);
  const source = { kind: 'held', bytes: sealed.bytes } as const;
  const { requestId, firstSeq, lastSeq } = sealed;
  const cut = cutOf(reason);
  accept(step, session, {
    index: nextCutIndex(session),
    startedAt: sealed.startedAt,
    audioBytes: sealed.bytes,
    requestId,
    firstSeq,
    lastSeq,
    traceId: undefined,
    order: {
      speech: session.opening.speech,
      pipeline: WHOLE_PIPELINE,
      source,
      audio,
      cut,
      paddingMs: isManual(reason) ? settings.paddingManualMs : settings.paddingAutoMs,
      turnId: `${session.sessionId}.t${sealed.turn}`,
      binding:
        requestId === undefined
          ? undefined
          : {
              requestId: bindingName(requestId, firstSeq),
              // Sent again, the same start may be cut at another end: that is different audio.
              fingerprint: fingerprintOf(step, { speech: session.opening.speech, audio, source }),
            },
    },
  });
}

const isManual = (reason: SealReason): boolean => cutOf(reason) === 'manual';

export function takeUtterance(step: Step, session: Session, given: GivenUtterance) {
  if (session.phase === 'closing') return refuse(step, session, 'SESSION_CLOSED', 'the session is closing');
  if (session.phase === 'draining' && understands(session, 'server_draining')) return;
  const { requestId, audio, speech } = given;
  const known = requestId === undefined ? undefined : session.requests.get(requestId);
  if (known !== undefined) {
    if (takeResentUtterance(step, session, known, given)) return;
    count(step, 'scheduler_session_messages_dropped_total', { reason: 'repeated_utterance' });
    return resendAccepted(step, session, known);
  }
  // The open utterance is earlier than this one.
  cutStream(step, session, { kind: 'cut', reason: 'next' });
  const bytes = audio?.length ?? 0;
  const about = {
    ...(requestId !== undefined && { request_id: requestId }),
    utterance_index: given.index,
  };
  if (bytes > step.settings.maxAudioBytes) {
    reject(step, session, tooLong(step, '/audio'), about);
    return;
  }
  if (isBacklogged(step, session) || session.audioBytes + bytes > step.settings.maxAudioBytes) {
    count(step, 'scheduler_session_messages_dropped_total', { reason: 'audio_limit' });
    const message = 'no space for more audio of this session; wait for results, then send it again';
    return send(step, session, { kind: 'error', code: 'RATE_LIMITED', message, details: about });
  }
  session.audioBytes += bytes;
  accept(step, session, {
    // An index is used once per session: legacy nodes refuse repeated ones.
    index: Math.max(Math.min(given.index, LARGEST_GIVEN_INDEX), session.nextIndex),
    startedAt: step.at,
    audioBytes: bytes,
    requestId,
    firstSeq: undefined,
    lastSeq: undefined,
    traceId: given.traceId,
    order: {
      speech,
      pipeline: given.pipeline ?? WHOLE_PIPELINE,
      source: given.source,
      audio,
      cut: given.isManualCut ? 'manual' : 'pause',
      paddingMs: given.isManualCut ? step.settings.paddingManualMs : step.settings.paddingAutoMs,
      turnId: undefined,
      binding: requestId === undefined ? undefined : { requestId, fingerprint: fingerprintOf(step, given) },
    },
  });
}

interface Acceptance {
  readonly index: number;
  readonly startedAt: number;
  readonly audioBytes: number;
  readonly requestId: string | undefined;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  readonly traceId: string | undefined;
  readonly order: Omit<JobInput, 'poolId' | 'waitMs' | 'contextText'>;
}

function accept(step: Step, session: Session, acceptance: Acceptance) {
  const { index, order } = acceptance;
  const joined = joinGroup(
    session.groups,
    acceptance.startedAt,
    step.settings.group,
    () => `${session.sessionId}.g${index}`,
  );
  session.groups = joined.groups;
  const received: Received = {
    index,
    jobId: session.draft?.jobId ?? step.ids.jobId(session.tenantId, order.binding?.requestId),
    traceId: acceptance.traceId ?? session.draft?.traceId ?? step.ids.traceId(),
    requestId: acceptance.requestId,
    groupId: joined.groupId,
    partIndex: joined.partIndex,
    firstSeq: acceptance.firstSeq,
    lastSeq: acceptance.lastSeq,
    startedAt: acceptance.startedAt,
    acceptedAt: step.at,
  };
  const voice = step.voiceInRoom(session.sessionId);
  const utterances = utterancesOf(session, received, order, voice);
  const utterance = utterances[0] as Utterance;
  utterance.audioBytes = acceptance.audioBytes;
  utterance.isPlaced = false;
  session.draft = undefined;
  session.nextIndex = index + 1;
  session.sealedSeq = Math.max(session.sealedSeq, acceptance.lastSeq ?? -1);
  noteChange(session, 'now');
  session.delivery.waiting.push(...utterances);
  session.running += 1;
  session.unplaced += 1;
  remember(session, utterance);
  sendUiEvent(step, session, utterance, 'INPUT_ENDED', acceptance.startedAt);
  if (session.running > step.settings.maxUtterances) {
    const message = 'too many utterances of this session have no result yet';
    for (const one of utterances) fail(step, session, one, 'RATE_LIMITED', message);
    return;
  }
  if (voice?.kind === 'silent') {
    for (const one of utterances) fail(step, session, one, 'FORBIDDEN', voice.message);
    return;
  }
  session.pool = choosePool(session.pool, session, order.speech.languages, step.pools);
  const { poolId } = session.pool;
  const waitMs = step.settings.pendingTimeoutMs;
  const whole = { ...order, contextText: joined.context, poolId, waitMs };
  step.effects.push(effectOf(step, session, utterance, whole));
}

/** One outcome, or one for each language. In a room the session's own outcome is its recognised text. */
function utterancesOf(
  session: Session,
  received: Received,
  { speech, binding }: Acceptance['order'],
  voice: Voice | undefined,
): Utterance[] {
  const { targets } = session.opening.speech;
  if (targets === undefined && voice === undefined) return [newUtterance(received)];
  const source = voice?.kind === 'speaks' ? voice.language : speech.languages.source;
  const name = planName(session, received.index, binding);
  const ownText = [{ language: source, kind: 'text' }] as const;
  return newRenditions(received, {
    name,
    source,
    parts: voice === undefined ? partsOf(targets ?? []) : ownText,
  });
}

/** Only whole utterances are repeated by request id; chunks are repeated by number. A rebuilt session may have more than the limit. */
function remember({ requests }: Session, utterance: Utterance): void {
  if (utterance.requestId === undefined || utterance.firstSeq !== undefined) return;
  requests.set(utterance.requestId, utterance);
  const [oldest] = requests.keys();
  if (requests.size > MAX_REQUESTS && oldest !== undefined) requests.delete(oldest);
}
