/** What the demonstration of survival reads from its command line and from a talk. */
import type { CaptionView } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../src/survive/command.ts';
import { type Heard, judgeCaptions, type Listener } from '../../src/survive/judge-captions.ts';
import { noticed, noticedLine, type TalkLine } from '../../src/survive/noticed.ts';

describe('the command line', () => {
  it('everything has a default', () => {
    expect(readCommand([])).toEqual({
      seconds: 60,
      pairs: 4,
      isRoom: false,
      durability: 'primary',
      stays: false,
    });
    expect(readCommand(['--rooms'])).toMatchObject({ seconds: 600, isRoom: true, durability: 'replica' });
    expect(readCommand(['--help'])).toBe('help');
  });

  it.each([
    ['--seconds', '29'],
    ['--pairs', '0'],
    ['--pairs', '1.5'],
    ['--pairs', '4', '--rooms'],
    ['--durability', 'disk'],
    ['--meteor'],
  ])('names the flag of %j %j', (...argv) => expect(readCommand(argv)).toContain(argv[0]));
});

describe('what people noticed', () => {
  const said = (pair: number, latencyMs: number, more: object = {}): TalkLine => ({
    event: 'outcome',
    pair,
    report: { verdict: 'good', latencyMs },
    ...more,
  });

  it('nothing but translations is said so', () => {
    const seen = noticed([said(1, 400), said(2, 900), said(1, 500)]);
    expect(noticedLine(seen, '2 pairs')).toBe(
      'no connection lost; 3 utterances; slowest translation 0.9 s (half of them within 0.5 s); all translated',
    );
  });

  it('lost connections are counted per pair, with the longest absence', () => {
    const seen = noticed([
      { event: 'disconnected', pair: 1 },
      { event: 'disconnected', pair: 1 },
      { event: 'disconnected', pair: 2 },
      { event: 'resumed', pair: 1, afterMs: 300 },
      { event: 'reopened', pair: 2, afterMs: 1_200 },
    ]);
    expect(seen).toMatchObject({ disconnected: 2, awayMs: 1_200, reopened: 1 });
    expect(noticedLine(seen, '4 pairs')).toContain(
      '2 of 4 pairs lost their connection, back after at most 1.2 s, 1 of',
    );
  });

  it('utterances without translation are counted by their reason, and doubled ones are named', () => {
    const doubled: TalkLine = { event: 'outcome', pair: 1, report: { verdict: 'doubled' } };
    const seen = noticed([said(1, 400), said(1, 9_000, { missing: 'NO_RESULT' }), doubled]);
    expect(noticedLine(seen, '1 pair')).toContain('not translated: NO_RESULT 1; doubled 1');
  });
});

describe('captions of a room', () => {
  const said = (room_seq: number, speaker: number, text: string, error_code?: string): CaptionView => ({
    room_seq,
    speaker: `s${speaker}`,
    speaker_name: `Person ${speaker}`,
    lang: 'es',
    rev: 0,
    final: true,
    text,
    text_lang: 'es',
    ...(error_code !== undefined && { error_code }),
    t0: 0,
    t1: 1,
  });
  const LOG = new Map([['es', [said(1, 1, 'uno'), said(2, 2, 'dos'), said(3, 1, 'tres')]]]);
  const caption = (seq: number, text: string, isFinal = true, at = 5): Heard => ({
    seq,
    text,
    isFinal,
    endedAt: 0,
    at,
  });
  const listener = (heard: readonly Heard[], more: Partial<Listener> = {}): Listener => ({
    name: 'Person 3',
    language: 'es',
    heard,
    recognised: 0,
    ...more,
  });
  const ALL = [caption(1, 'uno'), caption(2, 'dos'), caption(3, 'tres')];

  it('are faultless if each comes once, in order, or is corrected once', () => {
    const corrected = [caption(1, 'one', false), caption(2, 'dos'), caption(1, 'uno'), caption(3, 'tres')];
    const own = listener([caption(2, 'dos')], { name: 'Person 1', recognised: 2 });
    const verdict = judgeCaptions([listener(ALL), listener(corrected), own], LOG);
    expect(verdict).toMatchObject({ isFaultless: true, unlogged: 0 });
    expect(verdict.languages).toMatchObject([{ listeners: 3, promised: 7, received: 7, corrected: 1 }]);
  });

  it.each([
    ['lost', ALL.slice(1)],
    ['lost', [caption(1, 'one', false), ...ALL.slice(1)]],
    ['doubled', [...ALL, caption(3, 'tres')]],
    ['doubled', [...ALL, caption(3, 'three', false)]],
    ['outOfOrder', [caption(2, 'dos'), caption(1, 'uno'), caption(3, 'tres')]],
    ['wrong', [caption(1, 'otro'), ...ALL.slice(1)]],
    ['wrong', [...ALL, caption(9, 'nueve')]],
  ])('%s ones are found', (fault, heard) => {
    const { isFaultless, languages } = judgeCaptions([listener(heard)], LOG);
    expect(isFaultless).toBe(false);
    expect(languages).toMatchObject([{ [fault]: 1 }]);
  });

  it('one that later ones have waited for is overtaken, and no fault', () => {
    const late = [
      caption(2, 'dos', true, 1_500),
      caption(3, 'tres', true, 1_600),
      caption(1, 'uno', true, 1_700),
    ];
    expect(judgeCaptions([listener(late)], LOG)).toMatchObject({
      isFaultless: true,
      languages: [{ overtaken: 1, outOfOrder: 0 }],
    });
  });

  it('what a speaker said must be in the log', () => {
    expect(judgeCaptions([listener(ALL, { recognised: 1 })], LOG)).toMatchObject({
      isFaultless: false,
      unlogged: 1,
    });
  });

  it('without a translation they count as such, and are no fault', () => {
    const log = new Map([['es', [said(1, 1, 'one', 'NO_CAPABLE_NODE')]]]);
    const verdict = judgeCaptions([listener([caption(1, 'one')])], log);
    expect(verdict).toMatchObject({ isFaultless: true, languages: [{ failed: 1, received: 1 }] });
  });
});
