/** Whether a scheduler can translate between the languages of a room now. */
import type { OfferedLanguages } from '@lingua/protocol';

export type Offer =
  | { readonly kind: 'served' }
  /** No scheduler answers, or it does not know the token. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'missing'; readonly problems: readonly string[] };

const ANSWER_MS = 15_000;

export async function readOffer(
  {
    urls: [url],
    token,
  }: { readonly urls: readonly [string, ...string[]]; readonly token: string | undefined },
  languages: readonly string[],
): Promise<Offer> {
  const base = url.replace(/^ws/, 'http').replace(/\/+$/, '');
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const offers = new Map<string, readonly string[]>();
  for (const source of languages) {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`${base}/v1/languages?src=${source}`, { headers, signal }).catch(
      () => undefined,
    );
    if (response?.status !== 200) return { kind: 'refused' };
    const offered = (await response.json()) as OfferedLanguages;
    offers.set(
      source,
      offered.languages.map(({ lang }) => lang),
    );
  }
  const problems = missingIn(offers);
  return problems.length === 0 ? { kind: 'served' } : { kind: 'missing', problems };
}

/** `offers`: the languages into which each language can be translated. */
export function missingIn(offers: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const languages = [...offers.keys()];
  const othersOf = (language: string): string[] => languages.filter((other) => other !== language);
  const isReached = (language: string): boolean =>
    othersOf(language).some((source) => offers.get(source)?.includes(language));
  const unknown = languages.filter((language) => othersOf(language).length > 0 && !isReached(language));
  const offered = [...new Set([...offers.values()].flat())].sort();
  if (unknown.length > 0)
    return [`no node translates into ${unknown.join(', ')} now; ${listed(offered, 'offered')}`];
  return languages.flatMap((source) => {
    const missing = othersOf(source).filter((target) => !offers.get(source)?.includes(target));
    if (missing.length === 0) return [];
    return [
      `no node translates ${source} into ${missing.join(', ')} now; ${listed(offers.get(source) ?? [], `offered for ${source}`)}`,
    ];
  });
}

const listed = (languages: readonly string[], what: string): string =>
  `${what}: ${languages.length === 0 ? 'none' : languages.join(', ')}`;
