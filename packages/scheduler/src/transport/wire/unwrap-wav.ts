/** Extracts the pcm16 samples of a wav file: legacy nodes understand no container. Pure. */

export type UnwrappedWav =
  | { readonly kind: 'pcm16'; readonly samples: Buffer; readonly sampleRate: number }
  | { readonly kind: 'invalid'; readonly reason: string };

const PCM = 1;
/** The real format is in the first two bytes of the sub-format. */
const EXTENSIBLE = 0xfffe;
/** Programs that stream write the header before they know the length. */
const UNKNOWN_LENGTH = 0xffff_ffff;
const LOWEST_RATE = 1_000;
const HIGHEST_RATE = 384_000;
/** Real files have about a dozen chunks; a megabyte of empty ones would block this thread. */
const MAX_CHUNKS = 256;

export function unwrapWav(file: Buffer): UnwrappedWav {
  if (file.length < 12 || tag(file, 0) !== 'RIFF' || tag(file, 8) !== 'WAVE') {
    return invalid('does not begin like a wav file');
  }
  let sampleRate: number | undefined;
  let chunks = 0;
  for (let at = 12; at + 8 <= file.length; chunks += 1) {
    if (chunks === MAX_CHUNKS) return invalid(`has more than ${MAX_CHUNKS} parts before its samples`);
    const name = tag(file, at);
    const length = file.readUInt32LE(at + 4);
    const from = at + 8;
    if (name === 'fmt ') {
      const format = readFormat(file.subarray(from, from + length));
      if (typeof format === 'string') return invalid(format);
      sampleRate = format.sampleRate;
    }
    if (name === 'data') {
      if (sampleRate === undefined) return invalid('has no format before its samples');
      return readSamples(file, from, length, sampleRate);
    }
    // Chunks begin at even offsets.
    at = from + length + (length % 2);
  }
  return invalid('has no samples');
}

function readFormat(chunk: Buffer): { sampleRate: number } | string {
  if (chunk.length < 16) return 'has a format that is cut short';
  const written = chunk.readUInt16LE(0);
  const format = written === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : written;
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  if (format !== PCM || bits !== 16) return 'must hold 16-bit PCM';
  if (channels !== 1) return `must be mono, not ${channels} channels`;
  if (sampleRate < LOWEST_RATE || sampleRate > HIGHEST_RATE) return 'has an impossible sample rate';
  return { sampleRate };
}

function readSamples(file: Buffer, from: number, length: number, sampleRate: number): UnwrappedWav {
  const isStreamed = length === UNKNOWN_LENGTH || length === 0;
  if (!isStreamed && from + length > file.length) return invalid('is cut short');
  const samples = isStreamed ? file.subarray(from) : file.subarray(from, from + length);
  if (samples.length === 0) return invalid('has no samples');
  if (samples.length % 2 !== 0) return invalid('ends in the middle of a sample');
  return { kind: 'pcm16', samples, sampleRate };
}

const tag = (file: Buffer, at: number): string => file.toString('latin1', at, at + 4);

const invalid = (reason: string): UnwrappedWav => ({ kind: 'invalid', reason });
