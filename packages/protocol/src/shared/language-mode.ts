/** The fields that select the languages of a conversation, the same wherever audio is described. */
import { count, flag, language, list, oneOf, optional } from './bounded.ts';

export const languageMode = {
  mode: optional(
    oneOf(
      ['one_way', 'two_way_auto'],
      "One direction, or both with automatic recognition of the speaker's language",
    ),
  ),
  lang_a: optional(language('First language of a two-way conversation')),
  lang_b: optional(language('Second language of a two-way conversation')),
  auto_langs: optional(list(language('Language'), 64, 'Candidate languages when the source is `auto`')),
};

export const streamingAsr = {
  enable_streaming_asr: optional(flag('Request partial recognitions')),
  partial_update_interval_ms: optional(count('Time between partial recognitions', { maximum: 3_600_000 })),
};
