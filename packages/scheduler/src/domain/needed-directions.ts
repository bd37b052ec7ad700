/** Vocabulary: the translations that a node must be able to do, from the languages of a request. Pure. */
import type { JobSpec } from './job-spec.ts';
import { ANY, AUTO, foldLanguage, foldLanguages, type Language } from './language.ts';
import type { NeededDirection } from './need.ts';

export const TWO_WAY = 'two_way_auto';

/** Which translations an utterance may need, for operators: in a two-way conversation it is either of two. */
export function spokenDirections(
  spec: Pick<JobSpec, 'sourceLanguage' | 'targetLanguage' | 'mode' | 'languageA' | 'languageB'>,
): readonly NeededDirection[] {
  const { sourceLanguage: source, targetLanguage: target, mode, languageA: a, languageB: b } = spec;
  if (mode !== TWO_WAY || a === undefined || b === undefined) return [{ source, target }];
  return [
    { source: a, target: b },
    { source: b, target: a },
  ];
}

export interface NamedLanguages {
  readonly src_lang: string;
  readonly tgt_lang: string;
  readonly mode?: string | undefined;
  readonly lang_a?: string | undefined;
  readonly lang_b?: string | undefined;
  readonly auto_langs?: readonly string[] | undefined;
}

export interface Languages {
  readonly source: Language;
  readonly target: Language;
  readonly a?: Language | undefined;
  readonly b?: Language | undefined;
  readonly auto?: readonly Language[] | undefined;
  readonly directions: readonly NeededDirection[];
  readonly isSourceAuto: boolean;
  /** `auto` without a pair to choose from. */
  readonly isPairUnknown: boolean;
}

export type ReadLanguages =
  | { readonly kind: 'languages'; readonly languages: Languages }
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string };

export function readLanguages(named: NamedLanguages): ReadLanguages {
  const source = foldLanguage(named.src_lang);
  const target = foldLanguage(named.tgt_lang);
  const a = named.lang_a === undefined ? undefined : foldLanguage(named.lang_a);
  const b = named.lang_b === undefined ? undefined : foldLanguage(named.lang_b);
  if (target === AUTO)
    return invalid('/tgt_lang', '"tgt_lang" must name a language; only the source may be auto');
  if (a === AUTO || (a === undefined && b !== undefined))
    return invalid('/lang_a', mustPair('lang_a', 'lang_b'));
  if (b === AUTO || (b === undefined && a !== undefined))
    return invalid('/lang_b', mustPair('lang_b', 'lang_a'));
  const auto = named.auto_langs === undefined ? undefined : foldLanguages(named.auto_langs);
  const isSourceAuto = source === AUTO;
  return {
    kind: 'languages',
    languages: {
      source,
      target,
      a,
      b,
      auto,
      directions:
        isSourceAuto || named.mode === TWO_WAY
          ? severalWays(source, target, a, b, auto)
          : [{ source, target }],
      isSourceAuto,
      isPairUnknown: isSourceAuto && a === undefined,
    },
  };
}

function severalWays(
  source: Language,
  target: Language,
  a: Language | undefined,
  b: Language | undefined,
  auto: readonly Language[] = [],
): readonly NeededDirection[] {
  if (a !== undefined && b !== undefined) return bothWays(a, b);
  return source === AUTO ? fromAny(auto, target) : bothWays(source, target);
}

function fromAny(auto: readonly Language[], target: Language): readonly NeededDirection[] {
  const sources = auto.filter((language) => language !== target);
  return sources.length > 0 ? sources.map((source) => ({ source, target })) : [{ source: ANY, target }];
}

function bothWays(a: Language, b: Language): readonly NeededDirection[] {
  const there = { source: a, target: b };
  return a === b ? [there] : [there, { source: b, target: a }];
}

const mustPair = (name: string, other: string): string =>
  `"${name}" must name a language, as "${other}" does`;

const invalid = (field: string, message: string): ReadLanguages => ({ kind: 'invalid', field, message });
