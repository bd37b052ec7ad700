/** What the demonstration of survival reads from its command line and from a talk. */
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../src/survive/command.ts';
import { noticed, noticedLine, type TalkLine } from '../../src/survive/noticed.ts';

describe('the command line', () => {
  it('everything has a default', () => {
    expect(readCommand([])).toEqual({ seconds: 60, pairs: 4, stays: false });
    expect(readCommand(['--help'])).toBe('help');
  });

  it.each([['--seconds', '29'], ['--pairs', '0'], ['--pairs', '1.5'], ['--meteor']])(
    'names the flag of %j %j',
    (...argv) => expect(readCommand(argv)).toContain(argv[0]),
  );
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
    expect(noticedLine(seen, 2)).toBe(
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
    expect(noticedLine(seen, 4)).toContain(
      '2 of 4 pairs lost their connection, back after at most 1.2 s, 1 of',
    );
  });

  it('utterances without translation are counted by their reason, and doubled ones are named', () => {
    const doubled: TalkLine = { event: 'outcome', pair: 1, report: { verdict: 'doubled' } };
    const seen = noticed([said(1, 400), said(1, 9_000, { missing: 'NO_RESULT' }), doubled]);
    expect(noticedLine(seen, 1)).toContain('not translated: NO_RESULT 1; doubled 1');
  });
});
