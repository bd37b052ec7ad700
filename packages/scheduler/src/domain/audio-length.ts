/** How long audio is, in milliseconds, without decoding it; undefined if its format does not say. Pure. */

const BYTES_PER_SAMPLE = 2;
const WAV_HEADER_BYTES = 44;

export const pcmMs = (bytes: number, sampleRate: number): number =>
  sampleRate > 0 ? Math.round((bytes / BYTES_PER_SAMPLE / sampleRate) * 1_000) : 0;

/** The length of the first bytes of a wav file with the usual header; other headers are longer by a few bytes. */
export function wavMs(header: Buffer, bytes: number): number | undefined {
  if (header.length < WAV_HEADER_BYTES || header.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  const bytesPerSecond = header.readUInt32LE(28);
  if (bytesPerSecond === 0) return undefined;
  return Math.round((Math.max(0, bytes - WAV_HEADER_BYTES) / bytesPerSecond) * 1_000);
}

/**
 * A sequence of [u16 LE length][opus packet]. The first byte of a packet says how long its frames are, and how many there are (RFC 6716,
 * section 3.1). A packet that is cut short counts nothing.
 */
export function opusMs(packets: Buffer): number {
  let tenths = 0;
  for (let at = 0; at + 2 < packets.length; ) {
    const length = packets.readUInt16LE(at);
    const from = at + 2;
    at = from + length;
    if (length > 0 && at <= packets.length) tenths += packetTenths(packets, from, length);
  }
  return Math.round(tenths / 10);
}

/** In tenths of a millisecond, because the shortest frame has 2.5 ms. */
function packetTenths(packets: Buffer, from: number, length: number): number {
  const toc = packets[from] as number;
  const frame = FRAME_TENTHS[toc >> 3] as number;
  const code = toc & 3;
  if (code === 0) return frame;
  if (code < 3) return 2 * frame;
  // The number of frames is in the second byte; a packet has at most 120 ms.
  const frames = length > 1 ? (packets[from + 1] as number) & 63 : 0;
  return Math.min(frames * frame, MOST_TENTHS);
}

const MOST_TENTHS = 1_200;
const SILK = [100, 200, 400, 600];
const HYBRID = [100, 200];
const CELT = [25, 50, 100, 200];
/** By configuration, the upper five bits. */
const FRAME_TENTHS = [
  ...[SILK, SILK, SILK].flat(),
  ...[HYBRID, HYBRID].flat(),
  ...[CELT, CELT, CELT, CELT].flat(),
];
