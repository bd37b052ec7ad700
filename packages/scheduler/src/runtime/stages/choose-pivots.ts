/** Cold path: from which text each language is translated: the source, or a pivot that as many languages as possible share. Pure. */
import type { Language } from '../../domain/language.ts';

/** At most one pivot on a way: each translation loses meaning. A language that cannot be reached has no entry. Pivots have one, too. */
export function choosePivots(
  source: Language,
  wanted: readonly Language[],
  pivots: readonly Language[],
  translates: (from: Language, to: Language) => boolean,
): ReadonlyMap<Language, Language> {
  const parents = new Map<Language, Language>();
  for (const language of wanted) if (translates(source, language)) parents.set(language, source);
  const direct = [...parents.keys()];
  let open = wanted.filter((language) => !parents.has(language));

  const assign = (pivot: Language): void => {
    const [reached, rest] = partition(open, (language) => translates(pivot, language));
    if (reached.length > 0) parents.set(pivot, source);
    for (const language of reached) parents.set(language, pivot);
    open = rest;
  };

  // A wanted language costs nothing as a pivot: it is translated anyway.
  for (const pivot of byCoverage(direct, open, translates)) assign(pivot);
  const others = pivots.filter((pivot) => pivot !== source && translates(source, pivot));
  while (open.length > 0) {
    const [pivot] = byCoverage(others, open, translates);
    if (pivot === undefined) break;
    assign(pivot);
  }
  return parents;
}

/** Those that lead to at least one open language, the one that leads to most first; equal ones in their given order. */
const byCoverage = (
  pivots: readonly Language[],
  open: readonly Language[],
  translates: (from: Language, to: Language) => boolean,
): Language[] =>
  pivots
    .map((pivot) => ({ pivot, reached: open.filter((language) => translates(pivot, language)).length }))
    .filter(({ reached }) => reached > 0)
    .sort((a, b) => b.reached - a.reached)
    .map(({ pivot }) => pivot);

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const [passed, failed]: [T[], T[]] = [[], []];
  for (const item of items) (test(item) ? passed : failed).push(item);
  return [passed, failed];
}
