/** Reads and writes WAV. The reader accepts headers of programs that did not know the length when they began to write. */
import { SAMPLE_RATE } from '../engines/engines.ts';

export interface Sound {
  /** Mono, from -1 to 1. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

const PCM = 1;
const EXTENSIBLE = 0xfffe;
const HEADER_BYTES = 44;
/** As in the protocol. */
const LOWEST_RATE = 1_000;
const HIGHEST_RATE = 384_000;

/** Throws a RangeError that names the fault. */
export function readWav(bytes: Uint8Array): Sound {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (
    view.length < 12 ||
    view.toString('latin1', 0, 4) !== 'RIFF' ||
    view.toString('latin1', 8, 12) !== 'WAVE'
  )
    throw new RangeError('the audio is not a WAV file: it does not begin with RIFF and WAVE');
  let format: { channels: number; sampleRate: number } | undefined;
  for (let at = 12; at + 8 <= view.length; ) {
    const name = view.toString('latin1', at, at + 4);
    const length = view.readUInt32LE(at + 4);
    const body = view.subarray(at + 8, at + 8 + length);
    if (name === 'fmt ') format = readFormat(body);
    if (name === 'data') {
      if (format === undefined) throw new RangeError('the WAV file has its data before its format');
      return { samples: mixed(samplesOf(body), format.channels), sampleRate: format.sampleRate };
    }
    at += 8 + length + (length % 2);
  }
  throw new RangeError('the WAV file has no data');
}

function readFormat(body: Buffer): { channels: number; sampleRate: number } {
  if (body.length < 16) throw new RangeError('the WAV file has an incomplete format');
  const [code, channels, sampleRate] = [body.readUInt16LE(0), body.readUInt16LE(2), body.readUInt32LE(4)];
  const bits = body.readUInt16LE(14);
  if ((code !== PCM && code !== EXTENSIBLE) || bits !== 16)
    throw new RangeError(`the WAV file has ${bits}-bit samples of format ${code}; send 16-bit PCM`);
  if (channels < 1) throw new RangeError('the WAV file has no channel');
  // A few bytes at 1 Hz would become hours of samples.
  if (sampleRate < LOWEST_RATE || sampleRate > HIGHEST_RATE)
    throw new RangeError(
      `the WAV file has ${sampleRate} samples per second; send ${LOWEST_RATE} to ${HIGHEST_RATE}`,
    );
  return { channels, sampleRate };
}

/** 16-bit little-endian samples; an odd last byte is left out. */
export function samplesOf(bytes: Uint8Array): Float32Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(view.length >> 1);
  for (let index = 0; index < samples.length; index += 1)
    samples[index] = view.readInt16LE(index * 2) / 32_768;
  return samples;
}

export function toPcm16(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) =>
    Math.round(Math.max(-32_768, Math.min(32_767, sample * 32_768))),
  );
}

export function writeWav(samples: Int16Array, sampleRate = SAMPLE_RATE): Buffer {
  const data = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, index) => {
    data.writeInt16LE(sample, index * 2);
  });
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

function mixed(samples: Float32Array, channels: number): Float32Array {
  if (channels === 1) return samples;
  const mono = new Float32Array(Math.floor(samples.length / channels));
  for (let index = 0; index < mono.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += samples[index * channels + channel] ?? 0;
    mono[index] = sum / channels;
  }
  return mono;
}
