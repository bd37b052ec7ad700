/** Simulation: audio that encodes words, and the check that all of it arrived. */

const MARK = '|';

/** 16-bit samples: an even number of bytes. */
export function speak(words: string): Buffer {
  const text = `${MARK}${words}${MARK}`;
  return Buffer.from(text.length % 2 === 0 ? text : `${text}${MARK}`);
}

export function hear(audio: Buffer): string {
  const text = audio.toString('latin1');
  const words = text.slice(1, text.indexOf(MARK, 1));
  return speak(words).equals(audio) ? words : `garbled: ${text.slice(0, 40)}`;
}
