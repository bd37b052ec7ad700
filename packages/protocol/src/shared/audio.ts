/** Describes audio and references to it. The scheduler passes audio on and never decodes it. */
import { type Static, Type } from 'typebox';
import { count, oneOf, optional, text } from './bounded.ts';

export const AudioFormat = oneOf(
  ['pcm16', 'wav', 'opus'],
  'pcm16: 16-bit mono; opus: a sequence of [u16 LE packet length][packet]',
);
export type AudioFormat = Static<typeof AudioFormat>;

export const SampleRate = count('Samples per second', { minimum: 1_000, maximum: 384_000 });

export const AudioRef = Type.Object(
  {
    url: text('Address of the audio; opaque if it came from outside', 4096),
    token: optional(text('Bearer token that gives access for this job only', 4096)),
    bytes: optional(count('Size of the audio')),
  },
  { title: 'AudioRef', description: 'Audio by reference' },
);
export type AudioRef = Static<typeof AudioRef>;
