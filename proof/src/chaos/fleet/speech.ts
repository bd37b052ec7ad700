/** Audio that encodes words, and the check that all of it arrived. */

const MARK = '|';

/** The words over and over, cut to an even number of bytes. */
export function speak(words: string, bytes: number): Buffer {
  const once = `${MARK}${words}${MARK}`;
  return Buffer.from(once.repeat(Math.ceil(bytes / once.length)).slice(0, bytes - (bytes % 2)));
}

export function hear(audio: Buffer): string {
  const text = audio.toString('latin1');
  const end = text.indexOf(MARK, 1);
  const words = text.slice(1, end);
  const isWhole = text.startsWith(MARK) && end > 1 && speak(words, audio.length).equals(audio);
  return isWhole ? words : `garbled: ${text.slice(0, 40)} (${audio.length} bytes)`;
}
