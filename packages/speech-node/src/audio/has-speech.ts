/** A light gate before recognition: sound without speech is not recognised, because models invent words for it. Pure. */
import { SAMPLE_RATE } from '../engines/engines.ts';

const FRAME_SAMPLES = 0.03 * SAMPLE_RATE;
/** Quieter frames hold no speech that a model understands: -50 dB of full scale. */
const QUIETEST = 10 ** (-50 / 20);
/** The shortest words ("go", "sí") last longer. */
const FEWEST_FRAMES = 4;

export function hasSpeech(samples: Float32Array): boolean {
  let loud = 0;
  for (let start = 0; start + FRAME_SAMPLES <= samples.length; start += FRAME_SAMPLES) {
    let energy = 0;
    for (let at = start; at < start + FRAME_SAMPLES; at += 1) energy += (samples[at] ?? 0) ** 2;
    if (Math.sqrt(energy / FRAME_SAMPLES) < QUIETEST) continue;
    loud += 1;
    if (loud >= FEWEST_FRAMES) return true;
  }
  return false;
}
