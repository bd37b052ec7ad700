/** Segmentation: repeated chunks are neither new audio nor silence. */
import { describe, expect, it } from 'vitest';
import { createSpokenStream } from '../support/spoken-stream.ts';

describe('segmentation: repeated chunks', () => {
  it('repeated chunks are no silence, also during the hangover', () => {
    const stream = createSpokenStream();
    stream.say('a');
    for (let times = 0; times < 5; times += 1) {
      stream.pass(1_100);
      stream.handle({ kind: 'repeated' });
    }
    stream.pass(1_149);
    expect(stream.sealed).toEqual([]);
    stream.pass(1);
    expect(stream.sealed).toEqual(['pause:a']);
  });

  it('repeated chunks do not extend the longest duration or a final', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 2_000 } });
    stream.say('a');
    stream.pass(900);
    stream.handle({ kind: 'repeated' });
    stream.pass(900);
    stream.handle({ kind: 'repeated' });
    stream.pass(200);
    expect(stream.sealed).toEqual(['max_duration:a']);
    stream.say('b', { isFinal: true });
    stream.pass(100);
    stream.handle({ kind: 'repeated' });
    stream.pass(100);
    expect(stream.sealed).toEqual(['max_duration:a', 'final:b']);
  });

  it('without a duration limit repeated chunks do not suspend the pause', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 0 } });
    stream.say('a');
    for (let times = 0; times < 5; times += 1) {
      stream.pass(900);
      stream.handle({ kind: 'repeated' });
    }
    expect(stream.sealed).toEqual(['pause:a']);
  });
});
