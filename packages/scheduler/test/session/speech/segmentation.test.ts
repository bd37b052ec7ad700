import { describe, expect, it } from 'vitest';
import { createSpokenStream } from '../support/spoken-stream.ts';

describe('segmentation: the end of an utterance', () => {
  it('a final ends an utterance after the hangover', () => {
    const stream = createSpokenStream();
    stream.say('hello ');
    stream.say('world', { isFinal: true });
    expect(stream.sealed).toEqual([]);
    stream.pass(199);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['final:hello world']);
    expect(stream.nextChangeAt()).toBeUndefined();
  });

  it('a pause ends an utterance after the hangover', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(900);
    stream.say('b');
    stream.pass(1_149);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:ab']);
  });

  it('the longest duration ends an utterance despite steady audio', () => {
    const stream = createSpokenStream();
    for (let spoken = 0; spoken < 40; spoken++) {
      stream.say('a');
      stream.pass(500);
    }
    expect(stream.sealed).toEqual([`max_duration:${'a'.repeat(40)}`]);
  });

  it('without a limit no duration ends an utterance', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 0 } });
    for (let spoken = 0; spoken < 100; spoken++) {
      stream.say('a');
      stream.pass(999);
    }
    expect(stream.sealed).toEqual([]);
    stream.pass(151);
    expect(stream.sealed).toEqual([`pause:${'a'.repeat(100)}`]);
  });

  it('a chunk above the byte limit begins the next utterance', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 10 } });
    stream.say('aaaaa');
    stream.say('bbbbb');
    expect(stream.sealed).toEqual([]);
    stream.say('c');
    expect(stream.sealed).toEqual(['max_bytes:aaaaabbbbb']);
    expect(stream.open).toBe('c');
  });

  it('a chunk above the limit is an utterance of its own', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    stream.say('a');
    stream.say('too large');
    stream.say('b');
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['max_bytes:a', 'max_bytes:too large', 'close:b']);
  });

  it('closing the session ends an utterance at once', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['close:a']);
  });

  it('a close during the hangover seals at once with the first reason', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['final:a']);
    stream.pass(5_000);
    expect(stream.sealed).toHaveLength(1);
  });

  it('an empty buffer makes no utterance', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.final();
    stream.say('');
    stream.pass(60_000);
    stream.handle({ kind: 'cut', reason: 'close' });
    stream.handle({ kind: 'cut', reason: 'limit' });
    expect(stream.sealed).toEqual([]);
    expect(stream.nextChangeAt()).toBeUndefined();
  });

  it('each utterance has the numbers of its first and last chunk', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.say('b');
    stream.final();
    stream.pass(200);
    stream.say('c');
    stream.pass(2_000);
    expect(stream.said.map(({ seqs }) => seqs)).toEqual([
      [0, 1],
      [3, 3],
    ]);
  });
});

describe('segmentation: the utterance of a chunk', () => {
  it('a chunk after a pause belongs to the next utterance', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_150);
    stream.say('b');
    expect(stream.sealed).toEqual(['pause:a']);
    expect(stream.open).toBe('b');
  });

  it('a chunk after an unnoticed pause belongs to the next utterance', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_150);
    stream.say('b');
    expect(stream.sealed).toEqual(['pause:a']);
    expect(stream.open).toBe('b');
  });

  it('a chunk during the hangover belongs to the utterance being sealed', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_149);
    stream.say('b');
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:ab']);
  });

  it('a chunk in a final’s hangover belongs to the utterance being sealed', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.pass(199);
    stream.say('b');
    stream.silently(1);
    stream.say('c');
    expect(stream.sealed).toEqual(['final:ab']);
    expect(stream.open).toBe('c');
  });

  it('audio within 300 ms after a legacy final belongs to its utterance', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    stream.final();
    stream.pass(299);
    stream.say('b');
    stream.pass(1);
    expect(stream.sealed).toEqual(['final:ab']);
  });

  it('audio 300 ms after a legacy final begins the next utterance', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    stream.final();
    stream.silently(300);
    stream.say('b');
    expect(stream.sealed).toEqual(['final:a']);
    expect(stream.open).toBe('b');
  });

  it('other finals wait only the hangover', () => {
    const hasty = createSpokenStream({ doFinalsOvertakeAudio: true });
    hasty.say('a', { isFinal: true });
    hasty.pass(200);
    expect(hasty.sealed).toEqual(['final:a']);
    const orderly = createSpokenStream();
    orderly.say('a');
    orderly.final();
    orderly.pass(200);
    expect(orderly.sealed).toEqual(['final:a']);
  });

  it('late audio is never awaited less than the hangover', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true, settings: { hangoverManualMs: 500 } });
    stream.say('a');
    stream.final();
    stream.pass(499);
    expect(stream.sealed).toEqual([]);
  });

  it('without hangovers utterances are sealed at once', () => {
    const stream = createSpokenStream({ settings: { hangoverManualMs: 0, hangoverAutoMs: 0 } });
    stream.say('a', { isFinal: true });
    expect(stream.sealed).toEqual(['final:a']);
    stream.say('b');
    stream.pass(1_000);
    expect(stream.sealed).toEqual(['final:a', 'pause:b']);
  });
});

describe('segmentation: races of a timer with a final', () => {
  for (const [when, ms] of [
    ['just before the pause', 999],
    ['at the very millisecond of the pause', 1_000],
    ['in its hangover', 1_100],
  ] as const) {
    for (const isTimerFirst of [true, false]) {
      it(`a final ${when} seals once, with the timer ${isTimerFirst ? 'first' : 'late'}`, () => {
        const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
        stream.say('a');
        if (isTimerFirst) stream.pass(ms);
        else stream.silently(ms);
        stream.final();
        stream.pass(10_000);
        expect(stream.sealed).toEqual(['final:a']);
      });
    }
  }

  it('a final in the millisecond of the seal seals nothing', () => {
    for (const isTimerFirst of [true, false]) {
      const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
      stream.say('a');
      if (isTimerFirst) stream.pass(1_150);
      else stream.silently(1_150);
      stream.final();
      stream.pass(10_000);
      expect(stream.sealed).toEqual(['pause:a']);
    }
  });

  it('a final before a late timer seals exactly once', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_000);
    stream.final();
    stream.handle({ kind: 'time_passed' });
    stream.pass(10_000);
    expect(stream.sealed).toEqual(['final:a']);
  });

  it('a final chunk after an unnoticed timeout belongs to the next utterance', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(40_000);
    stream.say('b', { isFinal: true });
    stream.pass(200);
    expect(stream.sealed).toEqual(['pause:a', 'final:b']);
  });

  it('repeated finals do not keep an utterance open', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    for (let repeated = 0; repeated < 6; repeated++) {
      stream.final();
      stream.pass(50);
    }
    expect(stream.sealed).toEqual(['final:a']);
  });

  it('spurious timers change nothing', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'time_passed' });
    stream.say('a');
    const before = stream.state;
    stream.handle({ kind: 'time_passed' });
    stream.silently(999);
    stream.handle({ kind: 'time_passed' });
    expect(stream.state).toEqual(before);
  });
});
