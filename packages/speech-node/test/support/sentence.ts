/** Speech for tests, made by espeak-ng. */
import { samplesOf } from '../../src/audio/wav.ts';
import { createEspeakSynthesizer } from '../../src/engines/espeak/espeak-synthesizer.ts';
import { NEVER } from './never.ts';

export async function spoken(text: string, language: string): Promise<Float32Array> {
  const pcm = await createEspeakSynthesizer().speak(text, language, NEVER);
  return samplesOf(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
}
