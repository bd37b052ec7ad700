/** Cold path: the languages of connected sessions. Counted when sessions connect, change and disconnect, so that reads are free. */
import { AUTO, type Language } from '../../domain/language.ts';
import type { Speech } from '../session.ts';

export interface LanguageUse {
  readonly asSource: number;
  readonly asTarget: number;
}

/** At most four entries per session: unused languages are not in it. */
export type LanguageUses = ReadonlyMap<Language, LanguageUse>;

export interface LanguageCount {
  count(speech: Speech, by: 1 | -1): void;
  uses(): LanguageUses;
}

const TWO_WAY = 'two_way_auto';

export function createLanguageCount(): LanguageCount {
  const uses = new Map<Language, { asSource: number; asTarget: number }>();

  function add(language: Language, role: keyof LanguageUse, by: 1 | -1): void {
    const use = uses.get(language) ?? { asSource: 0, asTarget: 0 };
    use[role] += by;
    if (use.asSource === 0 && use.asTarget === 0) uses.delete(language);
    else uses.set(language, use);
  }

  return {
    count({ languages, mode }, by) {
      const { source, target, a, b } = languages;
      const both = mode === TWO_WAY ? [a, b] : [];
      for (const language of named([source, ...both])) add(language, 'asSource', by);
      for (const language of named([target, ...both])) add(language, 'asTarget', by);
    },
    uses: () => uses,
  };
}

/** Each language once per session; `auto` is not counted. */
function named(languages: readonly (Language | undefined)[]): ReadonlySet<Language> {
  const found = new Set<Language>();
  for (const language of languages) if (language !== undefined && language !== AUTO) found.add(language);
  return found;
}
