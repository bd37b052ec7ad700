/** The bare samples of a WAV file, for nodes that take no container. Pure; copies nothing. */

export type UnwrappedWav =
  | { readonly kind: 'pcm16'; readonly samples: Buffer; readonly sampleRate: number }
  /** Not a WAV file, or not 16-bit mono PCM. */
  | { readonly kind: 'unsupported' };

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FORMAT_BYTES = 16;
const PCM = 1;
/** The format is then told by the first two bytes of the sub-format, 24 bytes in. */
const EXTENSIBLE = 0xfffe;
const SUB_FORMAT_AT = 24;
const UNSUPPORTED: UnwrappedWav = { kind: 'unsupported' };

export function unwrapWav(file: Buffer): UnwrappedWav {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE')
    return UNSUPPORTED;
  let sampleRate: number | undefined;
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    // Streamed files carry a wrong size (0 or the largest number): what is there is what counts.
    const body = file.subarray(at + CHUNK_HEADER_BYTES, at + CHUNK_HEADER_BYTES + size);
    if (name === 'fmt ') {
      sampleRate = readMono16(body);
      if (sampleRate === undefined) return UNSUPPORTED;
    }
    if (name === 'data') {
      const samples = size === 0 ? file.subarray(at + CHUNK_HEADER_BYTES) : body;
      return sampleRate === undefined ? UNSUPPORTED : { kind: 'pcm16', samples, sampleRate };
    }
    // Chunks of odd size are padded.
    at += CHUNK_HEADER_BYTES + size + (size % 2);
  }
  return UNSUPPORTED;
}

/** The sample rate, if it is 16-bit mono PCM. */
function readMono16(format: Buffer): number | undefined {
  if (format.length < FORMAT_BYTES) return undefined;
  const tag = format.readUInt16LE(0);
  const encoding =
    tag === EXTENSIBLE && format.length >= SUB_FORMAT_AT + 2 ? format.readUInt16LE(SUB_FORMAT_AT) : tag;
  const isMono16 = format.readUInt16LE(2) === 1 && format.readUInt16LE(14) === 16;
  return encoding === PCM && isMono16 ? format.readUInt32LE(4) : undefined;
}
