/** The log of a room as its page keeps it: order, corrections, delays, and from where it goes on after a lost connection. */
import type { CaptionView } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { addCaption, type CaptionLog, delayOf, languagesOf, resumeAfter } from '../src/rooms/caption-log.ts';

const captionOf = (room_seq: number, more: Partial<CaptionView> = {}): CaptionView => ({
  room_seq,
  speaker: 's-1',
  lang: 'de',
  rev: 0,
  final: true,
  text: `hallo ${room_seq}`,
  text_lang: 'de',
  t0: 1_000 * room_seq - 500,
  t1: 1_000 * room_seq,
  ...more,
});

/** Each caption arrives so many ms after its speech; the page listens since 2,000. */
const logOf = (...captions: readonly (readonly [CaptionView, delayMs: number])[]): CaptionLog =>
  captions.reduce<CaptionLog>(
    (log, [caption, delayMs]) =>
      addCaption(log, caption, { now: caption.t1 + delayMs, listeningSince: 2_000 }),
    [],
  );

it('keeps one entry per utterance, in order, with its languages', () => {
  const log = logOf(
    [captionOf(3), 0],
    [captionOf(3, { lang: 'zh', text: '你好', text_lang: 'zh' }), 0],
    [captionOf(2), 0],
  );
  expect(log.map(({ seq, renditions }) => [seq, [...renditions.keys()]])).toEqual([
    [2, ['de']],
    [3, ['de', 'zh']],
  ]);
});

it('a correction replaces its caption, and a repeat changes nothing', () => {
  const open = captionOf(2, { final: false, text: 'hello', text_lang: 'en' });
  const corrected = logOf([open, 300], [captionOf(2, { rev: 1 }), 2_000]);
  expect(corrected[0]?.renditions.get('de')).toMatchObject({
    text: 'hallo 2',
    isFinal: true,
    delayMs: 2_000,
  });
  expect(addCaption(corrected, captionOf(2, { text: 'x' }), { now: 9_000, listeningSince: 2_000 })).toBe(
    corrected,
  );
});

it('measures the delay of what was said while the page listened, of translations alone', () => {
  const log = logOf(
    [captionOf(1), 60_000],
    [captionOf(2), 300],
    [captionOf(3), 700],
    [captionOf(4), 500],
    [captionOf(5, { error_code: 'NMT_TIMEOUT', text_lang: 'en' }), 9_000],
    [captionOf(6, { final: false }), 9_000],
  );
  expect(delayOf(log, 'de')).toEqual({ lastMs: 500, medianMs: 500, count: 3 });
  expect(delayOf(log, 'zh')).toBeUndefined();
});

it('goes on after the last caption without an open one before it', () => {
  const final = logOf([captionOf(2), 0], [captionOf(3), 0]);
  expect(resumeAfter(final, 'de')).toBe(3);
  expect(
    resumeAfter(logOf([captionOf(2), 0], [captionOf(3, { final: false }), 0], [captionOf(4), 0]), 'de'),
  ).toBe(2);
  expect(resumeAfter(final, 'zh')).toBeUndefined();
});

it('keeps the last 200 utterances', () => {
  const log = logOf(...Array.from({ length: 205 }, (_, at) => [captionOf(at + 1), 0] as const));
  expect([log.length, log[0]?.seq]).toEqual([200, 6]);
});

it('offers the languages that most members hear first, then those that are only spoken', () => {
  const member = (hears: string | undefined, speaks: string) => ({
    session_id: 's',
    role: 'speaker',
    joined_at_ms: 1,
    speaks,
    ...(hears !== undefined && { hears }),
  });
  const members = [member('zh', 'en'), member('de', 'auto'), member('zh', 'fr'), member(undefined, 'en')];
  expect(languagesOf({ members, languages: ['es'] })).toEqual(['zh', 'de', 'es', 'en', 'fr']);
});
