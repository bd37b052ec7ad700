/** Simulated speech: a tone that encodes the sentence, so that simulated nodes can recognise it. Pure. */

export interface Said {
  /** In a two-way conversation: the one who speaks `lang_b`. */
  readonly isSecondSpeaker: boolean;
  /** Number of the sentence. */
  readonly phrase: number;
}

const SAMPLE_RATE = 16_000;
export const BYTES_PER_MS = (SAMPLE_RATE * 2) / 1_000;
const LOUDNESS = 3_000;
const FIRST_HZ = 200;
const SECOND_HZ = 320;
/** Marks the speaker and the number of the sentence: four samples in all, too short to be audible. */
const MARK = Buffer.from('LSIM');
const SPEAKER_AT = 4;
const PHRASE_AT = 6;

/** pcm16 at 16 kHz. */
export function soundOf({ isSecondSpeaker, phrase }: Said, ms: number): Buffer {
  const samples = Math.max(PHRASE_AT, Math.round((ms * SAMPLE_RATE) / 1_000));
  const bytes = Buffer.alloc(samples * 2);
  // One period is computed, the rest is copied: many people speak at once.
  const period = Math.round(SAMPLE_RATE / (isSecondSpeaker ? SECOND_HZ : FIRST_HZ));
  for (let at = 0; at < Math.min(period, samples); at += 1) {
    bytes.writeInt16LE(Math.round(LOUDNESS * Math.sin((2 * Math.PI * at) / period)), at * 2);
  }
  for (let at = period * 2; at < bytes.length; at *= 2) bytes.copyWithin(at, 0, at);
  MARK.copy(bytes);
  bytes.writeUInt16LE(isSecondSpeaker ? 1 : 0, SPEAKER_AT);
  bytes.writeUInt16LE(phrase, PHRASE_AT);
  return bytes;
}

/** Undefined: this is not the beginning of simulated speech. */
export function sentenceIn(sound: Uint8Array): Said | undefined {
  const bytes = Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength);
  if (bytes.length < PHRASE_AT + 2 || !bytes.subarray(0, MARK.length).equals(MARK)) return undefined;
  return { isSecondSpeaker: bytes.readUInt16LE(SPEAKER_AT) === 1, phrase: bytes.readUInt16LE(PHRASE_AT) };
}
