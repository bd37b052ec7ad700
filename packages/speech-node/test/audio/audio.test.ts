import { describe, expect, it } from 'vitest';
import { hasSpeech } from '../../src/audio/has-speech.ts';
import { resample } from '../../src/audio/resample.ts';
import { readWav, writeWav } from '../../src/audio/wav.ts';

const tone = (hertz: number, rate: number, seconds = 1): Float32Array =>
  Float32Array.from(
    { length: rate * seconds },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / rate),
  );
/** The loudest sample between the edges, where the filter has its full length. */
const loudness = (samples: Float32Array): number =>
  samples.slice(500, -500).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

describe('WAV', () => {
  it('comes back as it was written', () => {
    const { samples, sampleRate } = readWav(writeWav(Int16Array.of(0, 16_384, -32_768), 8_000));
    expect([[...samples], sampleRate]).toEqual([[0, 0.5, -1], 8_000]);
  });

  it('is read if its header does not know the length', () => {
    const wav = writeWav(Int16Array.of(1, 2, 3));
    wav.writeUInt32LE(0x7ffff024, 4);
    wav.writeUInt32LE(0x7ffff000, 40);
    expect(readWav(wav).samples).toHaveLength(3);
  });

  it('of two channels is mixed', () => {
    const wav = writeWav(Int16Array.of(16_384, 0, 0, -16_384));
    wav.writeUInt16LE(2, 22);
    expect([...readWav(wav).samples]).toEqual([0.25, -0.25]);
  });

  it.each([
    [Buffer.from('no'), /RIFF/],
    [writeWav(Int16Array.of(1)).subarray(0, 36), /no data/],
    [writeWav(Int16Array.of(1)).fill(8, 34, 35), /8-bit samples/],
    [writeWav(Int16Array.of(1), 1), /1 samples per second; send 1000 to 384000/],
  ])('with the fault %# is refused', (wav, message) => {
    expect(() => readWav(wav)).toThrow(message);
  });
});

describe('resampling', () => {
  it.each([8_000, 22_050, 44_100, 48_000])('from %i Hz keeps speech and its length', (rate) => {
    const samples = resample(tone(440, rate), rate, 16_000);
    expect(Math.abs(samples.length - 16_000)).toBeLessThan(2);
    expect(loudness(samples)).toBeCloseTo(0.5, 1);
  });

  it('keeps each sample in its place', () => {
    const samples = resample(tone(440, 22_050), 22_050, 16_000);
    const wanted = tone(440, 16_000);
    const errors = samples.map((sample, index) => Math.abs(sample - (wanted[index] ?? 0)));
    expect(errors.slice(500, -500).reduce((most, error) => Math.max(most, error), 0)).toBeLessThan(0.005);
  });

  it('removes tones that would fold into the speech', () => {
    expect(loudness(resample(tone(15_000, 48_000), 48_000, 16_000))).toBeLessThan(0.005);
  });
});

describe('the gate before recognition', () => {
  it('passes a loud sound, and neither silence nor a click', () => {
    expect(hasSpeech(tone(300, 16_000))).toBe(true);
    expect(hasSpeech(new Float32Array(16_000))).toBe(false);
    expect(hasSpeech(tone(300, 16_000).map((sample) => sample / 1_000))).toBe(false);
    const click = new Float32Array(16_000);
    click.fill(0.9, 100, 200);
    expect(hasSpeech(click)).toBe(false);
  });
});
