import { describe, expect, it } from 'vitest';
import { addNoise } from '../../src/quality/add-noise.ts';
import { clipsOf } from '../../src/quality/human-clips.ts';
import { foundWords, SENTENCES } from '../../src/quality/sentences.ts';
import { errorRate, wordErrors } from '../../src/quality/word-errors.ts';

describe('word errors', () => {
  it.each([
    ['Go forward ten meters.', 'go forward, ten meters', 0, 4],
    ['one two three', 'one three', 1, 3],
    ['one two', 'one too two', 1, 2],
    ['press two', 'Press 2.', 0, 2],
    ['a b c', '', 3, 3],
  ])('of %j recognised as %j are %i of %i', (said, recognised, errors, words) => {
    expect(wordErrors(said, recognised)).toEqual({ errors, words });
  });

  it('are summed over all texts', () => {
    expect(
      errorRate([
        { errors: 1, words: 1 },
        { errors: 0, words: 3 },
      ]),
    ).toBe(0.25);
    expect(errorRate([])).toBe(0);
  });
});

it('noise has the asked distance, and is the same for the same seed', () => {
  const speech = Float32Array.from({ length: 16_000 }, (_, index) => Math.sin(index / 10));
  const noisy = addNoise(speech, 10, 1);
  const power = (samples: Float32Array): number => samples.reduce((sum, sample) => sum + sample ** 2, 0);
  const noise = noisy.map((sample, index) => sample - (speech[index] ?? 0));
  expect(10 * Math.log10(power(speech) / power(noise))).toBeCloseTo(10, 0);
  expect(addNoise(speech, 10, 1)).toEqual(noisy);
});

it('recordings whose transcript has other signs than words are left out', () => {
  const transcript =
    "; comment\nvm-a: Please enter your password.\nvm-b: Press 1 for English please.\nvm-c: Goodbye.\nvm-d: [beep] that was the tone\nvm-e: That's not a valid option.\nvm-f: Please press the letter b.";
  expect(clipsOf(transcript)).toEqual([
    { name: 'vm-a', said: 'Please enter your password.' },
    { name: 'vm-e', said: "That's not a valid option." },
  ]);
});

it('words of a translation count only from their beginning', () => {
  expect(SENTENCES).toHaveLength(60);
  const sentence = { text: '', words: ['sale|parte', 'no lleg'] };
  expect(foundWords(sentence, 'El tren SALE y no llegó.')).toBe(2);
  expect(foundWords(sentence, 'El aparte.')).toBe(0);
});
