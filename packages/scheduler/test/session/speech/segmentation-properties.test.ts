import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SegmentationSettings } from '../../../src/session/speech/segmentation.ts';
import { CUTTING, createSpokenStream, type SpokenStream } from '../support/spoken-stream.ts';

type Timers = 'on_time' | 'late' | 'never';

type Act = { readonly ms: number; readonly timers: Timers } & (
  | { readonly kind: 'chunk'; readonly bytes: number; readonly isFinal: boolean; readonly name: string }
  | { readonly kind: 'playback_started' | 'playback_ended'; readonly groupId: string }
  | { readonly kind: 'suspended' | 'resumed' }
  | { readonly kind: 'cut'; readonly reason: 'close' | 'next' | 'limit' }
);

/** Values near every limit and far from them. */
const ms = fc.oneof(
  fc.constantFrom(0, 0, 1, 99, 149, 150, 151, 199, 200, 201, 299, 300, 301),
  fc.constantFrom(999, 1_000, 1_001, 1_149, 1_150, 1_151, 20_000, 30_000, 31_150),
  fc.nat(1_500),
);
const timers = fc.constantFrom<Timers>('on_time', 'late', 'never');
const when = { ms, timers };
const groupId = fc.constantFrom('g1', 'g2');

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...when,
      kind: fc.constant('chunk' as const),
      bytes: fc.oneof(fc.constantFrom(0, 1, 40), fc.nat(30)),
      isFinal: fc.oneof(fc.constant(false), fc.boolean()),
      name: fc.constantFrom('', '', '', 'r1', 'r2'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...when,
      kind: fc.constantFrom('playback_started' as const, 'playback_ended' as const),
      groupId,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...when,
      kind: fc.constantFrom('suspended' as const, 'resumed' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...when,
      kind: fc.constant('cut' as const),
      reason: fc.constantFrom('close' as const, 'next' as const, 'limit' as const),
    }),
  },
);

const settings: fc.Arbitrary<SegmentationSettings> = fc.record({
  pauseMs: fc.constantFrom(50, 1_000),
  maxDurationMs: fc.constantFrom(0, 300, 1_000, 20_000),
  maxBytes: fc.constantFrom(32, 100, 10_000),
  playbackMaxMs: fc.constantFrom(0, 500, 30_000),
  hangoverAutoMs: fc.constantFrom(0, 150),
  hangoverManualMs: fc.constantFrom(0, 200),
  lateAudioMs: fc.constantFrom(0, 300),
});

const history = fc.record({
  settings,
  doFinalsOvertakeAudio: fc.boolean(),
  acts: fc.array(act, { maxLength: 60 }),
});

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Every byte differs from its neighbours, so that a wrong order is visible. */
const audio = (from: number, bytes: number): string =>
  Array.from({ length: bytes }, (_, at) => ALPHABET[(from + at) % ALPHABET.length]).join('');

function wait(stream: SpokenStream, one: Act, how: Timers) {
  if (how === 'on_time') return stream.pass(one.ms);
  stream.silently(one.ms);
  if (how === 'late') stream.handle({ kind: 'time_passed' });
}

/** `timing`: when timers fire; absent: as each act says. */
function play(
  {
    settings,
    doFinalsOvertakeAudio,
    acts,
  }: { settings: SegmentationSettings; doFinalsOvertakeAudio: boolean; acts: Act[] },
  check: (stream: SpokenStream, sent: string) => void,
  timing?: Timers,
): { stream: SpokenStream; sent: string } {
  const stream = createSpokenStream({ settings, doFinalsOvertakeAudio });
  let sent = '';
  for (const one of acts) {
    wait(stream, one, timing ?? one.timers);
    if (one.kind === 'chunk') {
      const text = audio(sent.length, one.bytes);
      sent += text;
      stream.say(text, { isFinal: one.isFinal, ...(one.name !== '' && { requestId: one.name }) });
    } else stream.handle(one);
    check(stream, sent);
  }
  return { stream, sent };
}

const spoken = (stream: SpokenStream): string => stream.said.map(({ text }) => text).join('');

describe('segmentation of random event sequences', () => {
  it('sealed and open audio together equal the sent audio', () => {
    fc.assert(
      fc.property(history, (one) => {
        play(one, (stream, sent) => expect(spoken(stream) + stream.open).toBe(sent));
      }),
      { numRuns: 2_000 },
    );
  });

  it('no sealed utterance is empty or above its limits', () => {
    fc.assert(
      fc.property(history, (one) => {
        const { stream } = play(one, () => {});
        const largest = Math.max(one.settings.maxBytes, 40);
        for (const { text, seqs } of stream.said) {
          expect(text.length).toBeGreaterThan(0);
          expect(text.length).toBeLessThanOrEqual(largest);
          expect(seqs[0]).toBeLessThanOrEqual(seqs[1]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('the next change is in the future or absent', () => {
    fc.assert(
      fc.property(history, (one) => {
        play(one, (stream) => {
          const next = stream.nextChangeAt();
          if (next !== undefined) expect(next).toBeGreaterThan(stream.at);
          if (stream.open !== '' && stream.state.suspendedSince === undefined) expect(next).toBeDefined();
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('every utterance ends within its limits as time passes', () => {
    fc.assert(
      fc.property(history, (one) => {
        const { stream, sent } = play(one, () => {});
        stream.handle({ kind: 'resumed' });
        const { pauseMs, hangoverAutoMs, hangoverManualMs, lateAudioMs, playbackMaxMs } = one.settings;
        const hangoverMs = Math.max(hangoverAutoMs, hangoverManualMs, lateAudioMs);
        stream.pass(pauseMs + playbackMaxMs + hangoverMs);
        expect(stream.open).toBe('');
        expect(spoken(stream)).toBe(sent);
      }),
      { numRuns: 500 },
    );
  });

  it('late or missing timers do not change the sealed utterances', () => {
    fc.assert(
      fc.property(history, (one) => {
        const [first, ...others] = (['on_time', 'late', 'never'] as const).map((timing) => {
          const { stream } = play(one, () => {}, timing);
          stream.handle({ kind: 'resumed' });
          stream.pass(CUTTING.playbackMaxMs + 2_000);
          return stream.said;
        });
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 500 },
    );
  });
});
