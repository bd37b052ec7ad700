/** Optional analyses that a session may request and a node may offer. */
import { type Static, Type } from 'typebox';
import { flag, optional } from './bounded.ts';

export const FeatureFlags = Type.Object(
  {
    emotion_detection: optional(flag('Recognise the emotion of the speaker')),
    voice_style_detection: optional(flag('Recognise the style of the voice')),
    speech_rate_detection: optional(flag('Measure the speech rate')),
    speech_rate_control: optional(flag('Speak at the measured rate')),
    speaker_identification: optional(flag('Distinguish speakers')),
    persona_adaptation: optional(flag('Adapt the translation to the speaker')),
  },
  { title: 'FeatureFlags', description: 'Optional analyses' },
);
export type FeatureFlags = Static<typeof FeatureFlags>;
