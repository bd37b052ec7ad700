import { describe, expect, it } from 'vitest';
import { createSpokenStream } from '../support/spoken-stream.ts';

describe('segmentation: playback', () => {
  it('playback suspends the pause, which starts at its end', () => {
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

  it('playback without an end suspends the pause for 30 s', () => {
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

  it('playback before the first chunk suspends the pause too', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(3_000);
    stream.say('a');
    stream.pass(5_000);
    expect(stream.sealed).toEqual([]);
  });

  it('playback suspends neither finals nor the longest duration', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.say('a', { isFinal: true });
    stream.pass(200);
    stream.say('b');
    stream.pass(20_000);
    expect(stream.sealed).toEqual(['final:a', 'max_duration:b']);
  });

  it('the end of another group’s playback is ignored', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.handle({ kind: 'playback_ended', groupId: 'another' });
    stream.pass(5_000);
    expect(stream.sealed).toEqual([]);
  });

  it('a playback end without a start changes nothing', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(900);
    stream.handle({ kind: 'playback_ended', groupId: 'g' });
    stream.pass(250);
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('playback during the hangover does not reopen the utterance', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.pass(1_050);
    stream.handle({ kind: 'playback_started', groupId: 'g' });
    stream.pass(100);
    expect(stream.sealed).toEqual(['pause:a']);
  });
});

describe('segmentation: turns', () => {
  it('parts of an over-long utterance share a turn', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    for (const text of ['aaaa', 'bbbb', 'cccc']) {
      stream.say(text);
      stream.pass(100);
    }
    stream.pass(2_000);
    expect(stream.sealed).toEqual(['max_bytes:aaaa', 'max_bytes:bbbb', 'pause:cccc']);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(1);
  });

  it('parts cut by duration share a turn', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 1_000 } });
    for (let spoken = 0; spoken < 4; spoken++) {
      stream.say('a');
      stream.pass(500);
    }
    stream.pass(2_000);
    expect(stream.said.length).toBeGreaterThan(1);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(1);
  });

  it('an utterance after a final or a pause has a new turn', () => {
    const stream = createSpokenStream();
    stream.say('a', { isFinal: true });
    stream.pass(200);
    stream.say('b');
    stream.pass(1_150);
    stream.say('c');
    stream.pass(1_150);
    expect(new Set(stream.said.map(({ turn }) => turn)).size).toBe(3);
  });

  it('a pause after the cut ends the turn', () => {
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

  it('the turn continues one millisecond before the pause', () => {
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

  it('a final without open audio ends the turn', () => {
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

  it('a turn continues after a disconnection', () => {
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

describe('segmentation: request ids', () => {
  it('a final with a request id seals at once', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.final({ requestId: 'r1' });
    expect(stream.said).toMatchObject([{ text: 'a', reason: 'final', requestId: 'r1' }]);
  });

  it('another request id begins another utterance', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.say('b', { requestId: 'r2', isFinal: true });
    expect(stream.said).toMatchObject([
      { text: 'a', reason: 'next', requestId: 'r1' },
      { text: 'b', reason: 'final', requestId: 'r2' },
    ]);
  });

  it('a chunk without a request id continues the open utterance', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.say('b');
    stream.final({ requestId: 'r1' });
    expect(stream.said).toMatchObject([{ text: 'ab', requestId: 'r1' }]);
  });

  it('parts of an over-long request keep its request id', () => {
    const stream = createSpokenStream({ settings: { maxBytes: 4 } });
    stream.say('aaaa', { requestId: 'r1' });
    stream.say('bbbb', { requestId: 'r1', isFinal: true });
    expect(stream.said).toMatchObject([
      { text: 'aaaa', reason: 'max_bytes', requestId: 'r1' },
      { text: 'bbbb', reason: 'final', requestId: 'r1' },
    ]);
  });

  it('an empty final with another request id ends the open utterance', () => {
    const stream = createSpokenStream();
    stream.say('a', { requestId: 'r1' });
    stream.final({ requestId: 'r2' });
    expect(stream.sealed).toEqual(['next:a']);
    expect(stream.nextChangeAt()).toBeUndefined();
  });
});

describe('segmentation: while the client is disconnected', () => {
  it('a disconnection does not count as a pause', () => {
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

  it('a disconnection stops duration, hangover and playback', () => {
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

  it('an utterance that was due before the disconnection is sealed', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.silently(1_150);
    stream.handle({ kind: 'suspended' });
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('a second suspension counts from the first', () => {
    const stream = createSpokenStream();
    stream.say('a');
    stream.handle({ kind: 'suspended' });
    stream.pass(5_000);
    stream.handle({ kind: 'suspended' });
    stream.pass(5_000);
    stream.handle({ kind: 'resumed' });
    expect(stream.nextChangeAt()).toBe(stream.at + 1_000);
  });

  it('a resume without a suspension changes nothing', () => {
    const stream = createSpokenStream();
    stream.say('a');
    const before = stream.state;
    stream.handle({ kind: 'resumed' });
    expect(stream.state).toEqual(before);
  });

  it('a chunk during a suspension is not delayed afterwards', () => {
    const stream = createSpokenStream();
    stream.handle({ kind: 'suspended' });
    stream.pass(50_000);
    stream.say('a');
    stream.handle({ kind: 'resumed' });
    stream.pass(1_150);
    expect(stream.sealed).toEqual(['pause:a']);
  });
});
