/** Additional data of a result: a few known keys, and free ones that are passed through unchanged. */
import { type Static, Type } from 'typebox';
import { anyOf, extension, label, list, map, measure, optional, text } from './bounded.ts';
import { ServiceTimings } from './timings.ts';

const KnownExtra = Type.Object(
  {
    emotion: optional(label('Emotion of the speaker')),
    speech_rate: optional(measure('Speech rate')),
    voice_style: optional(label('Style of the voice')),
    service_timings: optional(ServiceTimings),
    language_probability: optional(measure('Confidence in the recognised language, 0 to 1')),
    language_probabilities: optional(
      map<number>(measure('Confidence'), 1024, 'Confidence per language, 0 to 1'),
    ),
    audio_duration_ms: optional(
      measure('Length of the audio, for usage; only if the node fetched it from an `audio_ref`'),
    ),
    voice_failed: extension(text('Why a wanted voice is missing; the text is final all the same', 4096)),
    degraded: extension(
      list(
        label('What'),
        8,
        'What the result does not have, because the nodes were overloaded and the tenant allows that: voice, partials',
      ),
    ),
    reason: optional(anyOf(['NO_TEXT_ASSIGNED', 'ASR_EMPTY'], 'Why the result is empty')),
  },
  { title: 'Extra', description: 'Details of the result; other keys are passed through', maxProperties: 256 },
);

export const Extra = Type.Unsafe<Static<typeof KnownExtra> & { [key: string]: unknown }>(KnownExtra);
export type Extra = Static<typeof Extra>;
