/** Hot path: reads the languages of a request and caches plain pairs, because most requests name one of a few. */
import { type NamedLanguages, type ReadLanguages, readLanguages } from '../../domain/needed-directions.ts';

/** The cache is cleared at this size, so that invented names cannot fill the memory. */
const MAX_PAIRS = 2_048;

/** All jobs of a pair share one cached object: do not modify it. */
export function createLanguageReader(): (named: NamedLanguages) => ReadLanguages {
  const bySource = new Map<string, Map<string, ReadLanguages>>();
  let pairs = 0;

  function remember(source: string, target: string, read: ReadLanguages): void {
    if (pairs >= MAX_PAIRS) {
      bySource.clear();
      pairs = 0;
    }
    pairs += 1;
    const known = bySource.get(source);
    if (known === undefined) bySource.set(source, new Map([[target, read]]));
    else known.set(target, read);
  }

  return (named) => {
    if (!isPlain(named)) return readLanguages(named);
    const { src_lang: source, tgt_lang: target } = named;
    const known = bySource.get(source)?.get(target);
    if (known !== undefined) return known;
    const read = readLanguages(named);
    remember(source, target, read);
    return read;
  };
}

const isPlain = (named: NamedLanguages): boolean =>
  named.mode === undefined &&
  named.lang_a === undefined &&
  named.lang_b === undefined &&
  named.auto_langs === undefined;
