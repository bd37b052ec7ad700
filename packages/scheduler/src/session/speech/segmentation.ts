/** Hot path: cuts a stream of chunks into utterances. Pure: a state, an event and its time give the next state and the sealed segments. */
import type { AudioRefusal, Segment } from './segment.ts';

export interface SegmentationSettings {
  readonly pauseMs: number;
  /** 0 = no limit. */
  readonly maxDurationMs: number;
  readonly maxBytes: number;
  readonly playbackMaxMs: number;
  readonly hangoverAutoMs: number;
  readonly hangoverManualMs: number;
  /** After an empty final of a client whose finals overtake its audio. */
  readonly lateAudioMs: number;
}

/** Why an utterance ended. `next`: the client began another; `limit`: the audio budget was exhausted. */
export const SEAL_REASONS = [
  'final',
  'pause',
  'max_duration',
  'max_bytes',
  'close',
  'next',
  'limit',
] as const;
export type SealReason = (typeof SEAL_REASONS)[number];

export interface Segmentation {
  readonly segment: Segment | undefined;
  /** The segment has ended; chunks that arrive before `until` still belong to it. */
  readonly sealing: { readonly reason: SealReason; readonly until: number } | undefined;
  readonly playback: { readonly groupId: string; readonly until: number } | undefined;
  /** Until then the client was requested to pause: silence does not end the utterance. */
  readonly pauseRequestedUntil: number;
  /** The client is disconnected: time does not pass for its audio. */
  readonly suspendedSince: number | undefined;
  readonly turn: number;
  /** A segment that begins before this continues the last turn. */
  readonly turnOpenUntil: number;
}

export type SegmentationEvent =
  | {
      readonly kind: 'chunk';
      readonly seq: number;
      /** Absent: only `isFinal` matters. */
      readonly audio: Buffer | undefined;
      readonly isFinal: boolean;
      readonly requestId?: string | undefined;
      /** It has no usable audio; its place in the stream counts. */
      readonly refusal?: AudioRefusal | undefined;
    }
  | { readonly kind: 'time_passed' }
  | { readonly kind: 'playback_started' | 'playback_ended'; readonly groupId: string }
  | { readonly kind: 'pause_requested'; readonly until: number }
  /** Seals the open segment at once. */
  | { readonly kind: 'cut'; readonly reason: SealReason }
  | { readonly kind: 'suspended' | 'resumed' }
  /** The client repeats an earlier chunk: the rest of the open segment follows after the repeated ones. */
  | { readonly kind: 'repeated' };

export interface Sealed {
  readonly segment: Segment;
  readonly reason: SealReason;
}

export interface Stepped {
  readonly state: Segmentation;
  readonly sealed: readonly Sealed[];
}

export const SILENT: Segmentation = {
  segment: undefined,
  sealing: undefined,
  playback: undefined,
  pauseRequestedUntil: 0,
  suspendedSince: undefined,
  turn: 0,
  turnOpenUntil: 0,
};

const NOTHING: readonly Sealed[] = [];

/** `doFinalsOvertakeAudio`: finals of a legacy client overtake its audio. Time must not go back between steps. */
export function segment(
  before: Segmentation,
  event: SegmentationEvent,
  now: number,
  settings: SegmentationSettings,
  doFinalsOvertakeAudio: boolean,
): Stepped {
  // While the client is disconnected time does not pass, also for events of its other connections.
  const at = event.kind === 'resumed' ? now : (before.suspendedSince ?? now);
  const passed = elapse(before, at, settings);
  switch (event.kind) {
    case 'time_passed':
      return passed;
    case 'chunk':
      return takeChunk(passed, event, at, settings, doFinalsOvertakeAudio);
    case 'cut':
      return seal(passed, event.reason, at, settings);
    case 'playback_started':
      return {
        ...passed,
        state: {
          ...passed.state,
          playback: { groupId: event.groupId, until: at + settings.playbackMaxMs },
        },
      };
    case 'playback_ended':
      if (passed.state.playback?.groupId !== event.groupId) return passed;
      return { ...passed, state: quietFrom({ ...passed.state, playback: undefined }, at) };
    case 'pause_requested':
      return { ...passed, state: { ...passed.state, pauseRequestedUntil: event.until } };
    case 'suspended':
      return { ...passed, state: { ...passed.state, suspendedSince: passed.state.suspendedSince ?? at } };
    case 'resumed':
      return { ...passed, state: resumeTime(passed.state, at) };
    case 'repeated':
      return settings.maxDurationMs === 0 ? passed : { ...passed, state: restartPause(passed.state, at) };
  }
}

/** When the state changes by itself; undefined: never. */
export function nextChangeAt(state: Segmentation, settings: SegmentationSettings): number | undefined {
  const { segment: open, sealing, suspendedSince } = state;
  if (open === undefined || suspendedSince !== undefined) return undefined;
  if (sealing !== undefined) return sealing.until;
  return Math.min(pauseAt(state, open, settings), overlongAt(open, settings));
}

/** If the end of playback is never reported, it suspends the pause only up to its limit. */
const pauseAt = (
  { playback, pauseRequestedUntil }: Segmentation,
  open: Segment,
  { pauseMs }: SegmentationSettings,
): number => Math.max(open.quietSince, playback?.until ?? 0, pauseRequestedUntil) + pauseMs;

const overlongAt = (open: Segment, { maxDurationMs }: SegmentationSettings): number =>
  maxDurationMs === 0 ? Number.POSITIVE_INFINITY : open.startedAt + maxDurationMs;

/** Applies everything that is due by `at`. Decided by the clock, so that late timers change nothing. */
function elapse(before: Segmentation, at: number, settings: SegmentationSettings): Stepped {
  let state = before;
  let sealed = NOTHING;
  for (;;) {
    const changeAt = nextChangeAt(state, settings);
    if (changeAt === undefined || changeAt > at) return { state, sealed };
    const isPause = state.sealing === undefined && changeAt < overlongAt(openOf(state), settings);
    if (isPause) {
      state = { ...state, sealing: { reason: 'pause', until: changeAt + settings.hangoverAutoMs } };
      continue;
    }
    const next = seal({ state, sealed }, state.sealing?.reason ?? 'max_duration', changeAt, settings);
    state = next.state;
    sealed = next.sealed;
  }
}

function openOf({ segment: open }: Segmentation): Segment {
  if (open === undefined) throw new Error('there is no open segment to end');
  return open;
}

function seal(
  { state, sealed }: Stepped,
  reason: SealReason,
  at: number,
  settings: SegmentationSettings,
): Stepped {
  const { segment: open, sealing } = state;
  const isTooLong = reason === 'max_duration' || reason === 'max_bytes';
  const turnOpenUntil = isTooLong ? at + settings.pauseMs : 0;
  if (open === undefined) return { state: { ...state, turnOpenUntil }, sealed };
  return {
    state: { ...state, segment: undefined, sealing: undefined, turnOpenUntil },
    // A segment that is already being sealed keeps its reason.
    sealed: [...sealed, { segment: open, reason: sealing?.reason ?? reason }],
  };
}

function takeChunk(
  passed: Stepped,
  chunk: Extract<SegmentationEvent, { kind: 'chunk' }>,
  at: number,
  settings: SegmentationSettings,
  doFinalsOvertakeAudio: boolean,
): Stepped {
  let step = isOfOtherRequest(passed.state.segment, chunk) ? seal(passed, 'next', at, settings) : passed;
  const audio = chunk.refusal === undefined ? chunk.audio : NO_AUDIO;
  const hasAudio = audio !== undefined && (audio.length > 0 || chunk.refusal !== undefined);
  if (hasAudio) {
    const held = step.state.segment;
    if (held !== undefined && held.bytes + audio.length > settings.maxBytes) {
      step = seal(step, 'max_bytes', at, settings);
    }
    step = { ...step, state: append(step.state, chunk, audio, at) };
  }
  if (!chunk.isFinal) return step;
  return finish(step, at, settings, hangoverOf(chunk, hasAudio, settings, doFinalsOvertakeAudio));
}

const NO_AUDIO = Buffer.alloc(0);

/** A client that sends request ids decides where an utterance begins. */
const isOfOtherRequest = (
  open: Segment | undefined,
  { requestId }: { requestId?: string | undefined },
): boolean => open?.requestId !== undefined && requestId !== undefined && open.requestId !== requestId;

function append(
  state: Segmentation,
  { seq, requestId, refusal }: Extract<SegmentationEvent, { kind: 'chunk' }>,
  audio: Buffer,
  at: number,
): Segmentation {
  const open = state.segment;
  if (open !== undefined) {
    return {
      ...state,
      segment: {
        ...open,
        chunks: { audio, before: open.chunks },
        bytes: open.bytes + audio.length,
        lastSeq: seq,
        quietSince: at,
        refusal: open.refusal ?? refusal,
      },
    };
  }
  const turn = at < state.turnOpenUntil ? state.turn : state.turn + 1;
  return {
    ...state,
    turn,
    segment: {
      chunks: { audio, before: undefined },
      bytes: audio.length,
      firstSeq: seq,
      lastSeq: seq,
      startedAt: at,
      quietSince: at,
      requestId,
      refusal,
      turn,
    },
  };
}

/** A client that sends request ids sends no late audio. */
function hangoverOf(
  { requestId }: { requestId?: string | undefined },
  hasAudio: boolean,
  { hangoverManualMs, lateAudioMs }: SegmentationSettings,
  doFinalsOvertakeAudio: boolean,
): number {
  if (requestId !== undefined) return 0;
  return doFinalsOvertakeAudio && !hasAudio ? Math.max(hangoverManualMs, lateAudioMs) : hangoverManualMs;
}

/** A second final changes nothing: repeated finals must not keep the utterance open. */
function finish(step: Stepped, at: number, settings: SegmentationSettings, hangoverMs: number): Stepped {
  const { state } = step;
  if (state.segment === undefined) return { ...step, state: { ...state, turnOpenUntil: 0 } };
  if (state.sealing?.reason === 'final') return step;
  if (hangoverMs === 0)
    return seal({ ...step, state: { ...state, sealing: undefined } }, 'final', at, settings);
  return { ...step, state: { ...state, sealing: { reason: 'final', until: at + hangoverMs } } };
}

/** Timers fire earlier than this unless the process stalled; audio that arrived during a stall is read within the same time. */
const STALL_MS = 250;

/**
 * If a change is overdue by that much, the process stalled: audio that arrived during the stall is still unread, so the stall is no
 * silence. The stalled time does not count.
 */
export function excludeStall(state: Segmentation, at: number, settings: SegmentationSettings): Segmentation {
  const changeAt = nextChangeAt(state, settings);
  if (changeAt === undefined || at - changeAt <= STALL_MS) return state;
  return resumeTime({ ...state, suspendedSince: changeAt - STALL_MS }, at);
}

const quietFrom = (state: Segmentation, at: number): Segmentation =>
  state.segment === undefined ? state : { ...state, segment: { ...state.segment, quietSince: at } };

/** Repeated chunks are no silence. Only if the duration is limited: otherwise they could keep an utterance open forever. */
function restartPause(state: Segmentation, at: number): Segmentation {
  const isPausing = state.sealing?.reason === 'pause';
  return quietFrom(isPausing ? { ...state, sealing: undefined } : state, at);
}

/** Moves all times by the suspended time. */
function resumeTime(state: Segmentation, at: number): Segmentation {
  const { suspendedSince, segment: open, sealing, playback } = state;
  if (suspendedSince === undefined) return state;
  const awayMs = at - suspendedSince;
  return {
    ...state,
    suspendedSince: undefined,
    turnOpenUntil: state.turnOpenUntil + awayMs,
    pauseRequestedUntil: state.pauseRequestedUntil + awayMs,
    segment: open && { ...open, startedAt: open.startedAt + awayMs, quietSince: open.quietSince + awayMs },
    sealing: sealing && { ...sealing, until: sealing.until + awayMs },
    playback: playback && { ...playback, until: playback.until + awayMs },
  };
}
