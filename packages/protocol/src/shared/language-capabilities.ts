/** The languages that a node supports, per stage. */
import { type Static, Type } from 'typebox';
import { anyOf, flag, label, list, optional } from './bounded.ts';

const languages = (description: string) => list(label('Language tag'), 1024, description);

export const LanguagePair = Type.Object(
  { src: label('Source language'), tgt: label('Target language') },
  { title: 'LanguagePair', description: 'A direction of translation' },
);
export type LanguagePair = Static<typeof LanguagePair>;

export const NmtCapability = Type.Object(
  {
    model_id: label('Translation model'),
    languages: languages('Languages of the model'),
    rule: anyOf(
      ['any_to_any', 'any_to_en', 'en_to_any', 'specific_pairs'],
      'Which pairs of them it translates',
    ),
    blocked_pairs: optional(
      list(LanguagePair, 16_384, 'Pairs that the rule allows but the model does not support'),
    ),
    supported_pairs: optional(list(LanguagePair, 16_384, 'The pairs, for specific_pairs')),
  },
  { title: 'NmtCapability', description: 'Capabilities of one translation model' },
);
export type NmtCapability = Static<typeof NmtCapability>;

export const LanguageCapabilities = Type.Object(
  {
    asr_languages: optional(languages('Languages of speech recognition')),
    tts_languages: optional(languages('Languages of speech synthesis')),
    semantic_languages: optional(languages('Languages of semantic repair')),
    semantic_core_ready: optional(flag('The core of semantic repair is running')),
    nmt_capabilities: optional(list(NmtCapability, 256, 'Translation models')),
    supported_language_pairs: optional(
      list(LanguagePair, 16_384, 'Directions that the whole pipeline supports'),
    ),
  },
  { title: 'LanguageCapabilities', description: 'Languages per stage' },
);
export type LanguageCapabilities = Static<typeof LanguageCapabilities>;
