import { describe, expect, it } from 'vitest';
import { createSpokenStream } from './spoken-stream.ts';

describe('segmentation: what ends an utterance', () => {
  it('a final does, after the hangover', () => {
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

  it('a pause does, after the hangover', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(900);
    stream.say('b');
    stream.pass(1_149);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:ab']);
  });

  it('the longest duration does, however steadily somebody speaks', () => {
    const stream = createSpokenStream();
    for (let spoken = 0; spoken < 40; spoken++) {
      stream.say('a');
      stream.pass(500);
    }
    expect(stream.sealed).toEqual([`max_duration:${'a'.repeat(40)}`]);
  });

  it('no duration does if there is no limit', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 0 } });
    for (let spoken = 0; spoken < 100; spoken++) {
      stream.say('a');
      stream.pass(999);
    }
    expect(stream.sealed).toEqual([]);
    stream.pass(151);
    expect(stream.sealed).toEqual([`pause:${'a'.repeat(100)}`]);
  });

  it('too many bytes do: the chunk that does not fit begins the next', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 10 } });
    stream.say('aaaaa');
    stream.say('bbbbb');
    expect(stream.sealed).toEqual([]);
    stream.say('c');
    expect(stream.sealed).toEqual(['max_bytes:aaaaabbbbb']);
    expect(stream.open).toBe('c');
  });

  it('a chunk that is too large by itself is an utterance of its own', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    stream.say('a');
    stream.say('too large');
    stream.say('b');
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['max_bytes:a', 'max_bytes:too large', 'close:b']);
  });

  it('the close of the session does, at once', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['close:a']);
  });

  it('a close in the hangover seals at once and keeps what ended it', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.handle({ kind: 'cut', reason: 'close' });
    expect(stream.sealed).toEqual(['final:a']);
    stream.pass(5_000);
    expect(stream.sealed).toHaveLength(1);
  });

  it('nothing comes of an empty buffer', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.final();
    stream.say('');
    stream.pass(60_000);
    stream.handle({ kind: 'cut', reason: 'close' });
    stream.handle({ kind: 'cut', reason: 'limit' });
    expect(stream.sealed).toEqual([]);
    expect(stream.nextChangeAt()).toBeUndefined();
  });

  it('names the first and the last chunk of each', () => {
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

describe('segmentation: to which utterance a chunk belongs', () => {
  it('after a pause, to the next', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_150);
    stream.say('b');
    expect(stream.sealed).toEqual(['pause:a']);
    expect(stream.open).toBe('b');
  });

  it('after a pause of which nobody was told, to the next', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_150);
    stream.say('b');
    expect(stream.sealed).toEqual(['pause:a']);
    expect(stream.open).toBe('b');
  });

  it('in the hangover of a pause, to the one being sealed, which stays open no longer for it', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_149);
    stream.say('b');
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:ab']);
  });

  it('in the hangover of a final, to the one being sealed', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.pass(199);
    stream.say('b');
    stream.silently(1);
    stream.say('c');
    expect(stream.sealed).toEqual(['final:ab']);
    expect(stream.open).toBe('c');
  });

  it('within 300 ms after an empty final of a client whose finals overtake, to the one it ended', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    stream.final();
    stream.pass(299);
    stream.say('b');
    stream.pass(1);
    expect(stream.sealed).toEqual(['final:ab']);
  });

  it('300 ms after such a final, to the next', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    stream.final();
    stream.silently(300);
    stream.say('b');
    expect(stream.sealed).toEqual(['final:a']);
    expect(stream.open).toBe('b');
  });

  it('waits only the hangover after a final that has audio, and after one of a client that is in order', () => {
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

  it('never waits less than the hangover for late audio', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true, settings: { hangoverManualMs: 500 } });
    stream.say('a');
    stream.final();
    stream.pass(499);
    expect(stream.sealed).toEqual([]);
  });

  it('seals at once without hangovers', () => {
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
    for (const isTold of [true, false]) {
      it(`a final ${when} gives exactly one, the timer ${isTold ? 'first' : 'late'}`, () => {
        const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
        stream.say('a');
        if (isTold) stream.pass(ms);
        else stream.silently(ms);
        stream.final();
        stream.pass(10_000);
        expect(stream.sealed).toEqual(['final:a']);
      });
    }
  }

  it('a final at the very millisecond of the seal comes too late and gives none', () => {
    for (const isTold of [true, false]) {
      const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
      stream.say('a');
      if (isTold) stream.pass(1_150);
      else stream.silently(1_150);
      stream.final();
      stream.pass(10_000);
      expect(stream.sealed).toEqual(['pause:a']);
    }
  });

  it('a final before a timer that is heard afterwards gives exactly one', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_000);
    stream.final();
    stream.handle({ kind: 'time_passed' });
    stream.pass(10_000);
    expect(stream.sealed).toEqual(['final:a']);
  });

  it('a chunk with a final after a whole utterance has timed out unheard belongs to the next', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(40_000);
    stream.say('b', { isFinal: true });
    stream.pass(200);
    expect(stream.sealed).toEqual(['pause:a', 'final:b']);
  });

  it('finals that are repeated for ever do not keep an utterance open', () => {
    const stream = createSpokenStream({ doFinalsOvertakeAudio: true });
    stream.say('a');
    for (let repeated = 0; repeated < 6; repeated++) {
      stream.final();
      stream.pass(50);
    }
    expect(stream.sealed).toEqual(['final:a']);
  });

  it('timers that are heard for no reason change nothing', () => {
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
