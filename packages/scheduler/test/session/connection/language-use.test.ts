/** The languages of connected sessions, counted when sessions connect, change and disconnect. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanguageCount } from '../../../src/session/connection/language-use.ts';
import { createSessionRig, languages, opening, type SessionRig, speech } from '../support/session-rig.ts';

const speaking = (src_lang: string, tgt_lang: string) =>
  opening({ speech: speech({ languages: languages({ src_lang, tgt_lang }) }) });

const TWO_WAY = { src_lang: 'auto', tgt_lang: 'en', mode: 'two_way_auto', lang_a: 'zh', lang_b: 'en' };

const uses = ({ service }: SessionRig) => Object.fromEntries(service.languageUses());

describe('language uses', () => {
  it('languages of connected sessions are counted as source and target', async () => {
    const rig = createSessionRig();
    const client = rig.open(speaking('en', 'zh'));
    const other = rig.open(speaking('zh', 'fr'));
    expect(uses(rig)).toEqual({
      en: { asSource: 1, asTarget: 0 },
      zh: { asSource: 1, asTarget: 1 },
      fr: { asSource: 0, asTarget: 1 },
    });
    client.leave();
    expect(uses(rig)).toEqual({ zh: { asSource: 1, asTarget: 0 }, fr: { asSource: 0, asTarget: 1 } });
    other.send({ kind: 'close' });
    expect(uses(rig)).toEqual({});
    const again = client.resume();
    expect(uses(rig)).toEqual({ en: { asSource: 1, asTarget: 0 }, zh: { asSource: 0, asTarget: 1 } });
    again.leave();
    await rig.clock.advance(120_000);
    expect(uses(rig)).toEqual({});
    expect(rig.service.counts().sessions).toBe(0);
  });

  it('counts change when a session is resumed with other languages', () => {
    const rig = createSessionRig();
    const client = rig.open(speaking('en', 'zh'));
    client.resume({ speech: speech({ languages: languages({ src_lang: 'ja', tgt_lang: 'zh' }) }) });
    expect(uses(rig)).toEqual({ ja: { asSource: 1, asTarget: 0 }, zh: { asSource: 0, asTarget: 1 } });
  });

  it('a two-way session counts both languages twice; auto is not counted', () => {
    const rig = createSessionRig();
    rig.open(opening({ speech: speech({ languages: languages(TWO_WAY), mode: 'two_way_auto' }) }));
    expect(uses(rig)).toEqual({ zh: { asSource: 1, asTarget: 1 }, en: { asSource: 1, asTarget: 1 } });
  });

  it('counts are zero after all sessions are abandoned', () => {
    const rig = createSessionRig();
    rig.open(speaking('en', 'zh'));
    rig.service.abandonAll();
    expect(uses(rig)).toEqual({});
  });

  it('counts are zero after all sessions left, in any order', () => {
    const named = fc.record({
      source: fc.constantFrom('auto', 'en', 'zh', 'other'),
      target: fc.constantFrom('en', 'zh', 'fr'),
    });
    fc.assert(
      fc.property(fc.array(named), (pairs) => {
        const count = createLanguageCount();
        const all = pairs.map(({ source, target }) =>
          speech({ languages: { ...languages({ src_lang: 'en', tgt_lang: 'zh' }), source, target } }),
        );
        for (const each of all) count.count(each, 1);
        const total = [...count.uses().values()].reduce((sum, use) => sum + use.asSource + use.asTarget, 0);
        const autos = all.filter(({ languages: { source } }) => source === 'auto').length;
        expect(total).toBe(2 * all.length - autos);
        for (const each of all.reverse()) count.count(each, -1);
        expect(count.uses().size).toBe(0);
      }),
    );
  });
});
