/** Segmentation: what is sent once more is neither speech nor silence. */
import { describe, expect, it } from 'vitest';
import { createSpokenStream } from './spoken-stream.ts';

describe('segmentation: chunks that come again', () => {
  it('are no silence, also when the pause has just been noticed', () => {
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

  it('keep no utterance open for longer than one may last, nor one that was ended', () => {
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

  it('keep none open where one may last for ever', () => {
    const stream = createSpokenStream({ settings: { maxDurationMs: 0 } });
    stream.say('a');
    for (let times = 0; times < 5; times += 1) {
      stream.pass(900);
      stream.handle({ kind: 'repeated' });
    }
    expect(stream.sealed).toEqual(['pause:a']);
  });
});
