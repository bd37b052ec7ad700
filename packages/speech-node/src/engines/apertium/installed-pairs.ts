/** Which directions the installed Apertium packages translate, directly and through Spanish. */
import { readdir } from 'node:fs/promises';
import type { OfferedPair } from '../engines.ts';

export const MODES_FOLDER = '/usr/share/apertium/modes';

/**
 * ISO 639-1 → the codes in names of Apertium's modes. Languages whose only pairs were found to be poor (Serbo-Croatian)
 * are left out.
 */
const CODES: ReadonlyMap<string, readonly string[]> = new Map([
  ['ca', ['cat', 'ca']],
  ['en', ['eng', 'en']],
  ['eo', ['epo', 'eo']],
  ['es', ['spa', 'es']],
  ['fr', ['fra', 'fr']],
  ['gl', ['glg', 'gl']],
  ['it', ['ita', 'it']],
  ['pt', ['por', 'pt']],
]);
/** Direct modes that translate worse than the way through the pivot. */
const POOR: ReadonlySet<string> = new Set(['en>gl', 'gl>en']);
const PIVOT = 'es';

export interface ApertiumPair extends OfferedPair {
  /** The modes to pass through, one or two. */
  readonly modes: readonly string[];
}

/** An empty list if Apertium is not installed. */
export async function installedPairs(folder = MODES_FOLDER): Promise<ApertiumPair[]> {
  const files = await readdir(folder).catch(() => []);
  return pairsOf(
    files.filter((name) => name.endsWith('.mode')).map((name) => name.slice(0, -'.mode'.length)),
  );
}

/** Pure. */
export function pairsOf(modes: readonly string[]): ApertiumPair[] {
  const known = new Set(modes);
  const languages = [...CODES.keys()];
  const modeOf = (source: string, target: string): string | undefined => {
    if (source === target || POOR.has(`${source}>${target}`)) return undefined;
    const names = (CODES.get(source) ?? []).flatMap((from) =>
      (CODES.get(target) ?? []).map((to) => `${from}-${to}`),
    );
    return names.find((name) => known.has(name));
  };
  return languages.flatMap((source) =>
    languages.flatMap((target): ApertiumPair[] => {
      if (source === target) return [];
      const direct = modeOf(source, target);
      if (direct !== undefined) return [{ source, target, modes: [direct] }];
      const [first, second] = [modeOf(source, PIVOT), modeOf(PIVOT, target)];
      if (first === undefined || second === undefined) return [];
      return [{ source, target, via: PIVOT, modes: [first, second] }];
    }),
  );
}
