/** The direction of a translation, in one-way and two-way sessions. */
import { expect, it } from 'vitest';
import { directionOf } from '../src/show/direction.ts';

it('of a two-way session follows the language that the node recognised', () => {
  const both = { src_lang: 'auto', tgt_lang: 'zh', lang_a: 'en', lang_b: 'zh' };
  expect(directionOf(both)).toBe('en ↔ zh');
  expect(directionOf({ ...both, detected_language: 'en' })).toBe('en → zh');
  expect(directionOf({ ...both, detected_language: 'zh' })).toBe('zh → en');
  expect(directionOf({ ...both, detected_language: 'fr' })).toBe('en ↔ zh');
});

it('of a one-way session names the recognised language only instead of auto', () => {
  expect(directionOf({ src_lang: 'en', tgt_lang: 'de', detected_language: 'fr' })).toBe('en → de');
  expect(directionOf({ src_lang: 'auto', tgt_lang: 'de', detected_language: 'fr' })).toBe('fr → de');
  expect(directionOf({ src_lang: 'auto', tgt_lang: 'de' })).toBe('auto → de');
  expect(directionOf({})).toBe('? → ?');
});

it('of a job that only recognises is its language', () => {
  expect(directionOf({ src_lang: 'en', tgt_lang: 'en' })).toBe('en');
});
