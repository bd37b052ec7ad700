/** Cold path: counts by name; the most frequent names are kept, the others are summed. Pure. */
import { type Counts, type LanguageCounts, MAX_LANGUAGES, MAX_NAMES, OTHER } from './stats-part.ts';

/** Names kept while counting: many more than are shown, and few enough to be sorted within 5 ms (I6). */
const MAX_COUNTED = 4_000;

export interface Tally {
  add(name: string, by?: number): void;
  result(): Counts;
}

export function createTally(limits = { maxNames: MAX_NAMES, maxCounted: MAX_COUNTED }): Tally {
  const counts = new Map<string, number>();
  let others = 0;
  return {
    add(name, by = 1) {
      const known = counts.get(name);
      if (name === OTHER || (known === undefined && counts.size >= limits.maxCounted)) others += by;
      else counts.set(name, (known ?? 0) + by);
    },
    result() {
      const sorted = [...counts].sort(([a, x], [b, y]) => y - x || compare(a, b));
      const shown = sorted.slice(0, limits.maxNames);
      const rest = sorted.slice(limits.maxNames).reduce((sum, [, count]) => sum + count, others);
      return rest === 0 ? shown : [...shown, [OTHER, rest]];
    },
  };
}

export interface LanguageTally {
  add(language: string, asSource: number, asTarget: number): void;
  result(): LanguageCounts;
}

export function createLanguageTally(
  limits = { maxLanguages: MAX_LANGUAGES, maxCounted: MAX_COUNTED },
): LanguageTally {
  const counts = new Map<string, readonly [asSource: number, asTarget: number]>();
  let others: readonly [number, number] = [0, 0];
  return {
    add(language, asSource, asTarget) {
      const known = counts.get(language);
      if (language === OTHER || (known === undefined && counts.size >= limits.maxCounted)) {
        others = [others[0] + asSource, others[1] + asTarget];
      } else counts.set(language, [(known?.[0] ?? 0) + asSource, (known?.[1] ?? 0) + asTarget]);
    },
    result() {
      const sorted = [...counts].sort(([a, x], [b, y]) => y[0] + y[1] - x[0] - x[1] || compare(a, b));
      const shown = sorted
        .slice(0, limits.maxLanguages)
        .map(([name, [from, to]]) => [name, from, to] as const);
      let [from, to] = others;
      for (const [, use] of sorted.slice(limits.maxLanguages)) {
        from += use[0];
        to += use[1];
      }
      return from + to === 0 ? shown : [...shown, [OTHER, from, to]];
    },
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
