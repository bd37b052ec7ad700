/** What a minted token allows: every language that a request names is judged. */
import { describe, expect, it } from 'vitest';
import { languageRefusal } from '../../../src/transport/access/token-scope.ts';

const SCOPE = { languages: new Set(['en', 'zh']) };
const ALLOWED = { src_lang: 'en', tgt_lang: 'zh' };

describe('a token for some languages', () => {
  it('allows them in every spelling', () => {
    expect(languageRefusal(SCOPE, { ...ALLOWED, tgt_langs: ['zh-CN', 'en-US'] })).toBeUndefined();
  });

  it.each([
    ['tgt_lang', { tgt_lang: 'de' }],
    ['tgt_langs', { tgt_langs: ['zh', 'de'] }],
    ['auto_langs', { auto_langs: ['en', 'de'] }],
  ])('refuses another one in %s', (field, part) => {
    expect(languageRefusal(SCOPE, { ...ALLOWED, ...part })?.field).toBe(`/${field}`);
  });
});
