/** How audio is described and referred to. The scheduler passes it on and never decodes it. */
import { type Static, Type } from 'typebox';
import { count, oneOf, optional, text } from './bounded.ts';

export const AudioFormat = oneOf(
  ['pcm16', 'wav', 'opus'],
  'pcm16: 16-bit mono; opus: a run of [u16 LE packet length][packet]',
);
export type AudioFormat = Static<typeof AudioFormat>;

export const SampleRate = count('Samples per second', { minimum: 1_000, maximum: 384_000 });

export const AudioRef = Type.Object(
  {
    url: text('Where the audio is; opaque if it came from outside', 4096),
    token: optional(text('Bearer token that opens it for this job only', 4096)),
    bytes: optional(count('Size of the audio')),
  },
  { title: 'AudioRef', description: 'Audio by reference' },
);
export type AudioRef = Static<typeof AudioRef>;
