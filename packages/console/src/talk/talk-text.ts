/** Texts of Talk. They are loaded with the pages that show them. */
import { enTalk } from '../texts/en-talk.ts';
import { textsIn } from '../texts/text.ts';
import { zhTalk } from '../texts/zh-talk.ts';

export const { t: tTalk } = textsIn({ en: enTalk, zh: zhTalk });
