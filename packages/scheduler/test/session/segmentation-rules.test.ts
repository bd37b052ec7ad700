import { describe, expect, it } from 'vitest';
import { createSpokenStream } from './spoken-stream.ts';

describe('segmentation: playback', () => {
  it('suspends the pause until it ends, and the pause is counted from there', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(10_000);
    expect(stream.sealed).toEqual([]);
    stream.handle({ kind: 'playback_ended', groupId: 'g' });
    stream.pass(1_149);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('suspends the pause for 30 s and no longer if its end never comes', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 0 } });
    stream.say('a');
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(31_149);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:a']);
    stream.say('b');
    stream.pass(1_150);
    expect(stream.sealed).toEqual(['pause:a', 'pause:b']);
  });

  it('that began before the first chunk suspends the pause too', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(3_000);
    stream.say('a');
    stream.pass(5_000);
    expect(stream.sealed).toEqual([]);
  });

  it('suspends neither finals nor the longest duration', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.say('a', { isFinal: true });
    stream.pass(200);
    stream.say('b');
    stream.pass(20_000);
    expect(stream.sealed).toEqual(['final:a', 'max_duration:b']);
  });

  it('of another group does not end it', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.handle({ kind: 'playback_ended', groupId: 'another' });
    stream.pass(5_000);
    expect(stream.sealed).toEqual([]);
  });

  it('that ends without having begun changes nothing', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(900);
    stream.handle({ kind: 'playback_ended', groupId: 'g' });
    stream.pass(250);
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('that begins in the hangover does not reopen the utterance', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_050);
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(100);
    expect(stream.sealed).toEqual(['pause:a']);
  });
});

describe('segmentation: turns', () => {
  it('parts of an over-long utterance share one', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    for (const text of ['aaaa', 'bbbb', 'cccc']) {
      stream.say(text);
      stream.pass(100);
    }
    stream.pass(2_000);
    expect(stream.sealed).toEqual(['max_bytes:aaaa', 'max_bytes:bbbb', 'pause:cccc']);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(1);
  });

  it('parts cut by duration share one', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    for (let spoken = 0; spoken < 4; spoken++) {
      stream.say('a');
      stream.pass(500);
    }
    stream.pass(2_000);
    expect(stream.said.length).toBeGreaterThan(1);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(1);
  });

  it('a later utterance has another, as has one after a final or a pause', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.pass(200);
    stream.say('b');
    stream.pass(1_150);
    stream.say('c');
    stream.pass(1_150);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(3);
  });

  it('does not go on after a pause that follows the cut', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    stream.say('a');
    stream.pass(500);
    stream.say('b');
    stream.pass(500);
    expect(stream.sealed).toEqual(['max_duration:ab']);
    stream.pass(1_000);
    stream.say('c', { isFinal: true });
    stream.pass(200);
    const [first, second] = stream.said;
    expect(second?.turn).not.toBe(first?.turn);
  });

  it('goes on one millisecond before that', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    stream.say('a');
    stream.pass(500);
    stream.say('b');
    stream.pass(1_499);
    stream.say('c', { isFinal: true });
    stream.pass(200);
    const [first, second] = stream.said;
    expect(second?.turn).toBe(first?.turn);
  });

  it('ends with a final that finds nothing more to seal', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    stream.say('a');
    stream.pass(500);
    stream.say('b');
    stream.pass(500);
    stream.final();
    stream.say('c');
    stream.pass(2_000);
    const [first, second] = stream.said;
    expect(second?.turn).not.toBe(first?.turn);
  });

  it('goes on over a time without the client', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    stream.say('a');
    stream.pass(500);
    stream.say('b');
    stream.pass(600);
    stream.handle({ kind: 'suspended' });
    stream.pass(30_000);
    stream.handle({ kind: 'resumed' });
    stream.say('c', { isFinal: true });
    stream.pass(200);
    const [first, second] = stream.said;
    expect(second?.turn).toBe(first?.turn);
  });
});

describe('segmentation: names of requests', () => {
  it('a final of a named request seals at once', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.final({ requestId: 'r1' });
    expect(stream.said).toMatchObject([{ text: 'a', reason: 'final', requestId: 'r1' }]);
  });

  it('another name begins another utterance', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.say('b', { requestId: 'r2', isFinal: true });
    expect(stream.said).toMatchObject([
      { text: 'a', reason: 'next', requestId: 'r1' },
      { text: 'b', reason: 'final', requestId: 'r2' },
    ]);
  });

  it('a chunk without a name goes on with the named one', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.say('b');
    stream.final({ requestId: 'r1' });
    expect(stream.said).toMatchObject([{ text: 'ab', requestId: 'r1' }]);
  });

  it('parts of one over-long request keep its name, sealed in one step if need be', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    stream.say('aaaa', { requestId: 'r1' });
    stream.say('bbbb', { requestId: 'r1', isFinal: true });
    expect(stream.said).toMatchObject([
      { text: 'aaaa', reason: 'max_bytes', requestId: 'r1' },
      { text: 'bbbb', reason: 'final', requestId: 'r1' },
    ]);
  });

  it('an empty final of another name only ends what is there', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.final({ requestId: 'r2' });
    expect(stream.sealed).toEqual(['next:a']);
    expect(stream.nextChangeAt()).toBeUndefined();
  });
});

describe('segmentation: while the client is away', () => {
  it('no time passes for the pause', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(600);
    stream.handle({ kind: 'suspended' });
    expect(stream.nextChangeAt()).toBeUndefined();
    stream.pass(50_000);
    expect(stream.sealed).toEqual([]);
    stream.handle({ kind: 'resumed' });
    stream.pass(549);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('no time passes for the duration, the hangover and playback', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 2_000 } });
    stream.say('a', { isFinal: true });
    stream.pass(100);
    stream.handle({ kind: 'suspended' });
    stream.pass(50_000);
    stream.handle({ kind: 'resumed' });
    stream.say('b');
    expect(stream.open).toBe('ab');
    stream.pass(100);
    stream.say('c');
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(1_000);
    stream.handle({ kind: 'suspended' });
    stream.pass(50_000);
    stream.handle({ kind: 'resumed' });
    stream.pass(999);
    expect(stream.sealed).toEqual(['final:ab']);
    stream.pass(1);
    expect(stream.sealed).toEqual(['final:ab', 'max_duration:c']);
  });

  it('what was over before it left is sealed as it leaves', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_150);
    stream.handle({ kind: 'suspended' });
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('being held twice counts from the first time', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'suspended' });
    stream.pass(5_000);
    stream.handle({ kind: 'suspended' });
    stream.pass(5_000);
    stream.handle({ kind: 'resumed' });
    expect(stream.nextChangeAt()).toBe(stream.at + 1_000);
  });

  it('being let go without having been held changes nothing', () => {
    const stream = createSpokenStream();
    stream.say('a');
    const before = stream.state;
    stream.handle({ kind: 'resumed' });
    expect(stream.state).toEqual(before);
  });

  it('a chunk that comes all the same is not put off when it ends', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'suspended' });
    stream.pass(50_000);
    stream.say('a');
    stream.handle({ kind: 'resumed' });
    stream.pass(1_150);
    expect(stream.sealed).toEqual(['pause:a']);
  });
});
