/** A wav file of 16-bit mono samples. */
import { wrapWav } from '../../../src/transport/wire/wrap-wav.ts';

export const wavFile = (samples: readonly number[], sampleRate: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(wrapWav(Buffer.from(Int16Array.from(samples).buffer), sampleRate));
