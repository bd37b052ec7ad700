import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unwrapWav } from '../../../src/transport/link/unwrap-wav.ts';
import { wav } from './jobs.ts';

const SAMPLES = Buffer.from([1, 0, 2, 0, 3, 0]);

describe('a WAV file', () => {
  it('gives its samples and rate, whatever chunks lie between', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 2, maxLength: 64 }),
        fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 4 }),
        fc.constantFrom(8_000, 16_000, 48_000),
        (samples, between, sampleRate) => {
          const file = wav(Buffer.from(samples), {
            between: between.map((body) => Buffer.from(body)),
            sampleRate,
          });
          expect(unwrapWav(file)).toEqual({ kind: 'pcm16', samples: Buffer.from(samples), sampleRate });
        },
      ),
    );
  });

  it.each([
    ['0', 0],
    ['the largest number', 0xffff_ffff],
  ])('that was streamed says %s as its size, and gives what is there', (_, size) => {
    const file = wav(SAMPLES);
    file.writeUInt32LE(size, file.length - SAMPLES.length - 4);
    expect(unwrapWav(file)).toMatchObject({ kind: 'pcm16', samples: SAMPLES });
  });

  it.each([
    ['compressed', { encoding: 0x11 }],
    ['stereo', { channels: 2 }],
    ['of 8 bits', { bits: 8 }],
    ['of floats', { encoding: 3, bits: 32 }],
  ])('is not supported when it is %s', (_, shape) => {
    expect(unwrapWav(wav(SAMPLES, shape))).toEqual({ kind: 'unsupported' });
  });

  it('that is none, or only a part of one, never throws', () => {
    const file = wav(SAMPLES, { between: [Buffer.from('abc')] });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
          fc.nat(file.length).map((end) => file.subarray(0, end)),
          fc.tuple(fc.nat(file.length - 1), fc.nat(255)).map(([at, byte]) => {
            const changed = Buffer.from(file);
            changed[at] = byte;
            return changed;
          }),
        ),
        (bytes) => {
          expect(['pcm16', 'unsupported']).toContain(unwrapWav(bytes).kind);
        },
      ),
    );
  });
});
