/** Which stages a job passes through. */
import { type Static, Type } from 'typebox';
import { flag, optional } from './bounded.ts';

export const Pipeline = Type.Object(
  {
    use_asr: flag('Recognise speech'),
    use_nmt: flag('Translate'),
    use_tts: flag('Speak the translation'),
    use_semantic: optional(flag('Repair the recognised text; default false')),
    use_tone: optional(flag('Clone the voice; default false')),
    use_phonetic: optional(flag('Correct by sound; default false')),
    use_lexicon: optional(flag('Correct by lexicon; default false')),
  },
  { title: 'Pipeline', description: 'Stages of a job' },
);
export type Pipeline = Static<typeof Pipeline>;
