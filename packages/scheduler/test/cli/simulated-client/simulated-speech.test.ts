import { describe, expect, it } from 'vitest';
import { speak } from '../../../src/cli/simulated-node/simulated-output.ts';
import { BYTES_PER_MS, sentenceIn, soundOf } from '../../../src/cli/simulated-speech.ts';

const TWO_WAY = { src_lang: 'auto', tgt_lang: 'en', lang_a: 'zh', lang_b: 'en' } as Parameters<
  typeof speak
>[0];

describe('simulated speech', () => {
  it.each([true, false])('can be decoded again', (isSecondSpeaker) => {
    for (const phrase of [0, 1, 4]) {
      const sound = soundOf({ isSecondSpeaker, phrase }, 200);
      expect(sound).toHaveLength(200 * BYTES_PER_MS);
      expect(sentenceIn(sound)).toEqual({ isSecondSpeaker, phrase });
    }
  });

  it('differs from other sound, however short', () => {
    for (const other of [Buffer.alloc(0), Buffer.alloc(7), Buffer.from('LSIM'), Buffer.alloc(3_200)]) {
      expect(sentenceIn(other)).toBeUndefined();
    }
    expect(sentenceIn(soundOf({ isSecondSpeaker: true, phrase: 2 }, 0))).toMatchObject({ phrase: 2 });
  });

  it('makes a simulated node answer with the same sentence, translated', () => {
    const first = speak(TWO_WAY, () => 0.9, { isSecondSpeaker: false, phrase: 1 });
    expect(first).toEqual({
      source: '会议九点开始。',
      target: 'The meeting starts at nine.',
      language: 'zh',
    });
    const second = speak(TWO_WAY, () => 0, { isSecondSpeaker: true, phrase: 1 });
    expect(second).toEqual({ source: first.target, target: first.source, language: 'en' });
  });
});
