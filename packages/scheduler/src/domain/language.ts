/** Vocabulary: language tags, folded so that all spellings of a language are equal. */
export type Language = string;

/** The node recognises the language of the speaker. */
export const AUTO: Language = 'auto';

/** Every language: a node that declares none, or a source that may be any. */
export const ANY = 'any';

/** `any`, or exactly these. */
export type LanguageSet = typeof ANY | readonly Language[];

export interface Direction {
  readonly source: Language;
  readonly target: Language;
}

const ALIASES: ReadonlyMap<string, Language> = new Map([
  ['zh-cn', 'zh'],
  ['zh-tw', 'zh'],
  ['zh-hans', 'zh'],
  ['zh-hant', 'zh'],
  ['pt-br', 'pt'],
  ['pt-pt', 'pt'],
  ['en-us', 'en'],
  ['en-gb', 'en'],
  ['in', 'id'],
  ['iw', 'he'],
]);

export function foldLanguage(tag: string): Language {
  const lower = tag.trim().toLowerCase().replaceAll('_', '-');
  return ALIASES.get(lower) ?? lower;
}

/** Folded, sorted, without repeats, and without `auto`, which is not a language. */
export function foldLanguages(tags: readonly string[]): readonly Language[] {
  return [...new Set(tags.map(foldLanguage))].filter((tag) => tag !== AUTO && tag !== '').sort();
}

export const includesLanguage = (set: LanguageSet, language: Language): boolean =>
  set === ANY || set.includes(language);
