/** A stream of chunks through segmentation, with its own time. */

import { audioOf } from '../../../src/session/speech/segment.ts';
import {
  nextChangeAt,
  type Sealed,
  type SealReason,
  type Segmentation,
  type SegmentationEvent,
  type SegmentationSettings,
  SILENT,
  segment,
} from '../../../src/session/speech/segmentation.ts';

export const CUTTING: SegmentationSettings = {
  pauseMs: 1_000,
  maxDurationMs: 20_000,
  maxBytes: 1_000,
  playbackMaxMs: 30_000,
  hangoverAutoMs: 150,
  hangoverManualMs: 200,
  lateAudioMs: 300,
};

export interface Said {
  readonly text: string;
  readonly reason: SealReason;
  readonly turn: number;
  readonly requestId: string | undefined;
  readonly seqs: readonly [number, number];
}

export interface SpokenStream {
  /** Of the last event. */
  readonly at: number;
  readonly state: Segmentation;
  readonly said: readonly Said[];
  /** Sealed utterances, as `reason:text`. */
  readonly sealed: readonly string[];
  readonly open: string;
  nextChangeAt(): number | undefined;
  /** Lets time pass without a timer event. */
  silently(ms: number): void;
  /** Lets time pass with a timer event at each due change. */
  pass(ms: number): void;
  handle(event: SegmentationEvent): void;
  say(text: string, more?: { isFinal?: boolean; requestId?: string }): void;
  final(more?: { requestId?: string }): void;
}

const START = 1_700_000_000_000;

export function createSpokenStream(
  given: { settings?: Partial<SegmentationSettings>; doFinalsOvertakeAudio?: boolean } = {},
): SpokenStream {
  const settings = { ...CUTTING, ...given.settings };
  const said: Said[] = [];
  let state = SILENT;
  let at = START;
  let seq = 0;

  function handle(event: SegmentationEvent): void {
    const step = segment(state, event, at, settings, given.doFinalsOvertakeAudio ?? false);
    state = step.state;
    said.push(...step.sealed.map(described));
  }

  function chunk(text: string, more: { isFinal?: boolean; requestId?: string } = {}): void {
    const audio = text === '' ? undefined : Buffer.from(text);
    handle({ kind: 'chunk', seq: seq++, audio, isFinal: false, ...more });
  }

  return {
    get at() {
      return at;
    },
    get state() {
      return state;
    },
    said,
    get sealed() {
      return said.map(({ reason, text }) => `${reason}:${text}`);
    },
    get open() {
      return state.segment === undefined ? '' : audioOf(state.segment).toString();
    },
    nextChangeAt: () => nextChangeAt(state, settings),
    silently(ms) {
      at += ms;
    },
    pass(ms) {
      const end = at + ms;
      for (let next = nextChangeAt(state, settings); next !== undefined && next <= end; ) {
        at = Math.max(at, next);
        handle({ kind: 'time_passed' });
        next = nextChangeAt(state, settings);
      }
      at = end;
      handle({ kind: 'time_passed' });
    },
    handle,
    say: chunk,
    final: (more) => chunk('', { ...more, isFinal: true }),
  };
}

const described = ({ segment: one, reason }: Sealed): Said => ({
  text: audioOf(one).toString(),
  reason,
  turn: one.turn,
  requestId: one.requestId,
  seqs: [one.firstSeq, one.lastSeq],
});
