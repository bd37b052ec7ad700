/** The union of what several models translate is exact: neither a pair more nor a pair less. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedTranslation } from '../../src/domain/capability-report.ts';
import { ANY, type Direction, foldLanguage } from '../../src/domain/language.ts';
import { translates } from '../../src/domain/profile.ts';
import { uniteAbilities } from '../../src/management/registration/nmt-ability.ts';
import { understandLanguages } from '../../src/management/registration/stage-languages.ts';

const TAGS = ['en', 'EN-US', 'zh', 'zh-CN', 'de', 'fr', 'ja', 'in', 'id'];
const WORLD = ['en', 'zh', 'de', 'fr', 'ja', 'id', 'xx'];

const tag = fc.constantFrom(...TAGS);
const pair: fc.Arbitrary<Direction> = fc.record({ source: tag, target: tag });
const pairs = fc.array(pair, { maxLength: 6 });
const translation: fc.Arbitrary<ReportedTranslation> = fc.record({
  languages: fc.array(tag, { maxLength: 6 }),
  rule: fc.constantFrom('any_to_any', 'any_to_en', 'en_to_any', 'specific_pairs', 'something_new'),
  blockedPairs: pairs,
  supportedPairs: pairs,
});

const names = (list: readonly Direction[], source: string, target: string) =>
  list.some((entry) => foldLanguage(entry.source) === source && foldLanguage(entry.target) === target);

/** The rules as the protocol words them, one pair and one model at a time. */
function modelTranslates(model: ReportedTranslation, source: string, target: string): boolean {
  if (names(model.blockedPairs, source, target)) return false;
  if (names(model.supportedPairs, source, target)) return true;
  if (source === target) return false;
  const has = (language: string) =>
    model.languages === 'any' || model.languages.some((entry) => foldLanguage(entry) === language);
  if (model.rule === 'any_to_any') return has(source) && has(target);
  if (model.rule === 'any_to_en') return has(source) && target === 'en';
  if (model.rule === 'en_to_any') return source === 'en' && has(target);
  return false;
}

const nmtOf = (translations: readonly ReportedTranslation[], listed?: readonly Direction[]) =>
  understandLanguages(
    { models: [], languages: { translations, ...(listed !== undefined && { pairs: listed }) } },
    { isInstalled: true, isReady: true },
    true,
  ).nmt;

describe('the translations of a node', () => {
  for (const rule of ['any_to_any', 'any_to_en', 'en_to_any', 'specific_pairs']) {
    it(`follows the rule ${rule}, with blocked and supported pairs`, () => {
      fc.assert(
        fc.property(translation, (drawn) => {
          const model = { ...drawn, rule };
          const nmt = nmtOf([model]);
          for (const source of WORLD) {
            for (const target of WORLD) {
              expect(translates(nmt, source, target)).toBe(modelTranslates(model, source, target));
            }
          }
        }),
      );
    });
  }

  it('are exactly the union of its models and listed pairs', () => {
    fc.assert(
      fc.property(fc.array(translation, { maxLength: 4 }), pairs, (models, listed) => {
        const nmt = nmtOf(models, listed);
        for (const source of WORLD) {
          for (const target of WORLD) {
            const isTrue =
              names(listed, source, target) || models.some((model) => modelTranslates(model, source, target));
            expect(translates(nmt, source, target), `${source} to ${target}`).toBe(isTrue);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('do not depend on the order of its models', () => {
    fc.assert(
      fc.property(fc.array(translation, { maxLength: 4 }), (models) => {
        const forth = nmtOf(models);
        const back = nmtOf([...models].reverse());
        for (const source of WORLD) {
          for (const target of WORLD) {
            expect(translates(forth, source, target)).toBe(translates(back, source, target));
          }
        }
      }),
    );
  });

  it('with "any" on a side never exceed its parts', () => {
    const side = fc.oneof(fc.constant(ANY), fc.uniqueArray(fc.constantFrom('en', 'zh', 'de')));
    const blocked = fc.array(
      fc.record({ source: fc.constantFrom('en', 'zh', 'de'), target: fc.constantFrom('en', 'zh', 'de') }),
      { maxLength: 3 },
    );
    const product = fc.record({ sources: side, targets: side, blocked });
    fc.assert(
      fc.property(fc.array(product, { maxLength: 3 }), (products) => {
        const nmt = uniteAbilities(products, []);
        for (const source of WORLD) {
          for (const target of WORLD) {
            const isTrue = products.some((part) => translates({ ...part, pairs: [] }, source, target));
            if (!isTrue) expect(translates(nmt, source, target), `${source} to ${target}`).toBe(false);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('keep "any" exact when one part has it on both sides', () => {
    const nmt = uniteAbilities(
      [
        { sources: ANY, targets: ANY, blocked: [{ source: 'de', target: 'en' }] },
        { sources: ['zh'], targets: ['en'], blocked: [] },
      ],
      [],
    );
    expect(translates(nmt, 'fr', 'ja')).toBe(true);
    expect(translates(nmt, 'zh', 'en')).toBe(true);
    expect(translates(nmt, 'de', 'en')).toBe(false);
  });
});

describe('the stored form', () => {
  const languages = Array.from({ length: 100 }, (_, index) => `l${String(index).padStart(2, '0')}`);

  it('writes one rule as one product and lists nothing', () => {
    const nmt = uniteAbilities([{ sources: languages, targets: languages, blocked: [] }], []);
    expect(nmt).toEqual({ sources: languages, targets: languages, blocked: [], pairs: [] });
  });

  it('recognises a product that was listed pair by pair', () => {
    const all = languages.flatMap((source) =>
      languages.filter((target) => target !== source).map((target) => ({ source, target })),
    );
    const nmt = uniteAbilities([], all);
    expect(nmt.pairs).toEqual([]);
    expect(nmt.sources).toEqual(languages);
  });

  it('keeps the largest product and lists the rest when the union is none', () => {
    const some = languages.slice(0, 30);
    const nmt = uniteAbilities(
      [
        { sources: ['x', 'y'], targets: ['z'], blocked: [] },
        { sources: some, targets: some, blocked: [] },
      ],
      [],
    );
    expect(nmt.sources).toEqual(some);
    expect(nmt.pairs).toEqual([
      { source: 'x', target: 'z' },
      { source: 'y', target: 'z' },
    ]);
  });

  it('joins models that share their targets into one product', () => {
    const nmt = uniteAbilities(
      [
        { sources: ['de', 'fr'], targets: ['en'], blocked: [] },
        { sources: ['ja', 'zh'], targets: ['en'], blocked: [] },
      ],
      [],
    );
    expect(nmt).toEqual({ sources: ['de', 'fr', 'ja', 'zh'], targets: ['en'], blocked: [], pairs: [] });
  });
});
