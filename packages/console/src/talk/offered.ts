/** The languages that the fleet offers for a conversation. Pure. */
import type { LanguagesReply, OfferedLanguages } from '@lingua/protocol';

/** Offered before the fleet's languages are known, or if this role may not read them. */
const USUAL = ['en', 'zh', 'ja', 'de', 'fr', 'es'];

/** Targets at the start, if they are offered. */
const FIRST = ['zh', 'es', 'en'];

export type Targets = Pick<OfferedLanguages, 'languages'> | undefined;

/** `target`: the chosen one, or the first that nodes translate into. */
export function offered(
  fleet: Pick<LanguagesReply, 'cells'> | undefined,
  fromSource: Targets,
  source: string,
  chosen: string | undefined,
): { readonly sources: readonly string[]; readonly targets: readonly string[]; readonly target: string } {
  const cells = fleet?.cells.filter(({ nodes }) => nodes > 0) ?? [];
  const heard = [...new Set(cells.map(({ src }) => src))].filter((each) => each !== 'auto' && each !== 'any');
  const into = fromSource?.languages.map(({ lang }) => lang).filter((lang) => lang !== source) ?? [];
  const targets = into.length > 0 ? into : USUAL.filter((lang) => lang !== source);
  const first = FIRST.find((language) => targets.includes(language)) ?? targets[0] ?? 'en';
  const target = chosen === undefined || chosen === source ? first : chosen;
  return { sources: heard.length > 0 ? heard.sort() : USUAL, targets, target };
}

/** What the fleet does with speech for this target; `unknown`: it has not answered. */
export function serviceOf(fromSource: Targets, target: string): 'spoken' | 'text_only' | 'none' | 'unknown' {
  if (fromSource === undefined) return 'unknown';
  const found = fromSource.languages.find(({ lang }) => lang === target);
  if (found === undefined) return 'none';
  return found.voice ? 'spoken' : 'text_only';
}
