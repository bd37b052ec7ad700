import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../../src/transport/wire/read-audio.ts';
import { unwrapWav } from '../../../src/transport/wire/unwrap-wav.ts';

interface Wav {
  readonly samples: Buffer;
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly format?: number;
  readonly dataLength?: number;
  readonly chunks?: readonly Buffer[];
}

function chunk(name: string, content: Buffer, length = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

function wav(options: Wav): Buffer {
  const { samples, sampleRate = 16_000, channels = 1, bits = 16, format = 1, chunks = [] } = options;
  const fmt = Buffer.alloc(format === 0xfffe ? 40 : 16);
  fmt.writeUInt16LE(format, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(sampleRate, 4);
  fmt.writeUInt32LE(sampleRate * channels * (bits / 8), 8);
  fmt.writeUInt16LE(channels * (bits / 8), 12);
  fmt.writeUInt16LE(bits, 14);
  if (format === 0xfffe) fmt.writeUInt16LE(1, 24);
  const parts = [chunk('fmt ', fmt), ...chunks, chunk('data', samples, options.dataLength)];
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...parts]);
}

const LIST = chunk('LIST', Buffer.alloc(0));

const evenBytes = fc
  .uint8Array({ minLength: 2, maxLength: 200 })
  .map((bytes) => Buffer.from(bytes.slice(0, bytes.length - (bytes.length % 2))));

describe('wav file', () => {
  it('chunks of real files are skipped, a flood of empty ones is refused', () => {
    const samples = Buffer.from([1, 2]);
    expect(unwrapWav(wav({ samples, chunks: Array(200).fill(LIST) })).kind).toBe('pcm16');
    expect(unwrapWav(wav({ samples, chunks: Array(300).fill(LIST) }))).toEqual({
      kind: 'invalid',
      reason: 'has more than 256 parts before its samples',
    });
  });

  it('exactly the samples and the rate are returned, whatever other chunks exist', () => {
    const other = fc
      .tuple(fc.constantFrom('LIST', 'fact', 'junk'), fc.uint8Array({ maxLength: 30 }))
      .map(([name, bytes]) => chunk(name, Buffer.from(bytes)));
    fc.assert(
      fc.property(
        evenBytes,
        fc.integer({ min: 1_000, max: 384_000 }),
        fc.array(other, { maxLength: 3 }),
        fc.constantFrom(1, 0xfffe),
        (samples, sampleRate, chunks, format) => {
          expect(unwrapWav(wav({ samples, sampleRate, chunks, format }))).toEqual({
            kind: 'pcm16',
            samples,
            sampleRate,
          });
        },
      ),
    );
  });

  it('all bytes are samples if the length was unknown at writing', () => {
    const samples = Buffer.from([1, 2, 3, 4]);
    for (const dataLength of [0, 0xffff_ffff]) {
      expect(unwrapWav(wav({ samples, dataLength }))).toMatchObject({ kind: 'pcm16', samples });
    }
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'does not begin'],
    ['something else', Buffer.from('OggS and much more text'), 'does not begin'],
    ['two channels', wav({ samples: Buffer.alloc(4), channels: 2 }), 'mono'],
    ['8 bits', wav({ samples: Buffer.alloc(4), bits: 8 }), '16-bit'],
    ['floats', wav({ samples: Buffer.alloc(4), format: 3 }), '16-bit'],
    ['no rate', wav({ samples: Buffer.alloc(4), sampleRate: 0 }), 'sample rate'],
    ['a short file', wav({ samples: Buffer.alloc(4), dataLength: 100 }), 'cut short'],
    ['half a sample', wav({ samples: Buffer.alloc(3) }), 'middle of a sample'],
    ['no samples', wav({ samples: Buffer.alloc(0) }), 'no samples'],
    ['no data', wav({ samples: Buffer.alloc(4) }).subarray(0, 36), 'no samples'],
    [
      'no format',
      Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('data', Buffer.alloc(2))]),
      'no format',
    ],
  ])('%s is refused with the reason', (_name, file, reason) => {
    expect(unwrapWav(file)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(reason) });
  });

  it('any bytes are handled without an exception and in bounded time', () => {
    const mangled = fc
      .tuple(evenBytes, fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 8 }))
      .map(([samples, edits]) => {
        const file = wav({ samples });
        for (const [at, byte] of edits) if (at < file.length) file[at] = byte;
        return file;
      });
    const any = fc.oneof(
      mangled,
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(fc.property(any, (file) => ['pcm16', 'invalid'].includes(unwrapWav(file).kind)));
  });
});

describe('base64 decoding', () => {
  it('every buffer is decoded, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decodeBase64(text)).toEqual(Buffer.from(bytes));
        expect(decodeBase64(text.replaceAll('=', ''))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('any character outside base64 is refused', () => {
    const stray = fc.constantFrom(' ', '\n', '!', '*', '.', 'é', '\0', '=');
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 3 }), stray, fc.nat(), (bytes, character, where) => {
        const text = Buffer.from(bytes).toString('base64').replaceAll('=', '');
        const at = where % (text.length - 1);
        expect(decodeBase64(text.slice(0, at) + character + text.slice(at))).toBeUndefined();
      }),
    );
  });

  it.each(['A', 'AAAAA', 'A===', 'AA=', '====', 'AAAA=', 'data:audio/wav;base64,AAAA'])(
    '%s is refused',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});
