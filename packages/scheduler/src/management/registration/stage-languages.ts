/** Cold path: the languages of a node at each stage, declared or derived. Pure. */
import type {
  CapabilityReport,
  ReportedLanguages,
  ReportedModel,
  ReportedTranslation,
} from '../../domain/capability-report.ts';
import {
  ANY,
  AUTO,
  type Direction,
  foldLanguage,
  foldLanguages,
  type LanguageSet,
} from '../../domain/language.ts';
import type { NmtAbility } from '../../domain/profile.ts';
import { type Product, uniteAbilities } from './nmt-ability.ts';

export interface StageLanguages {
  readonly asr: LanguageSet;
  readonly semantic: LanguageSet;
  readonly tts: LanguageSet;
  readonly nmt: NmtAbility;
}

const NONE: readonly string[] = [];
const ENGLISH = ['en'] as const;

export function understandLanguages(
  report: CapabilityReport,
  nmt: { readonly isInstalled: boolean; readonly isReady: boolean },
  assumeAnyLanguage: boolean,
): StageLanguages {
  const unknown: LanguageSet = assumeAnyLanguage ? ANY : NONE;
  const models = report.models.filter(({ isEnabled }) => isEnabled);
  return report.languages === undefined
    ? undeclared(models, nmt.isReady, unknown)
    : declared(report.languages, models, nmt.isInstalled, unknown);
}

/** An empty list is a statement: legacy nodes send it while nothing runs. */
function declared(
  languages: ReportedLanguages,
  models: readonly ReportedModel[],
  hasNmt: boolean,
  unknown: LanguageSet,
): StageLanguages {
  const semantic = languages.semantic === undefined ? unknown : foldLanguages(languages.semantic);
  const saysNmt = languages.translations !== undefined || languages.pairs !== undefined;
  return {
    // Recognition counts only if it is declared: the source must pass the semantic stage anyway.
    asr: languages.asr === undefined ? ANY : foldLanguages(languages.asr),
    semantic,
    tts: languages.tts === undefined ? modelLanguages(models, 'tts', unknown) : foldLanguages(languages.tts),
    // Whether it is ready is judged apart: a node that is only not ready yet is capable.
    nmt: saysNmt ? declaredNmt(languages) : amongThemselves(semantic, hasNmt),
  };
}

function undeclared(
  models: readonly ReportedModel[],
  isNmtReady: boolean,
  unknown: LanguageSet,
): StageLanguages {
  const asr = modelLanguages(models, 'asr', unknown);
  const translators = models.filter(({ kind }) => isKind(kind, 'nmt'));
  // No model is of the semantic kind, so the semantic stage is not narrower than recognition and translation.
  const spoken = union(
    asr,
    union(NONE, ...translators.map(({ sourceLanguage }) => oneLanguage(sourceLanguage, unknown))),
  );
  const semantic = spoken.length === 0 ? unknown : spoken;
  return {
    asr,
    semantic,
    tts: modelLanguages(models, 'tts', unknown),
    nmt: translators.length === 0 ? amongThemselves(semantic, isNmtReady) : modelNmt(translators, unknown),
  };
}

const amongThemselves = (languages: LanguageSet, hasNmt: boolean): NmtAbility =>
  uniteAbilities(hasNmt ? [{ sources: languages, targets: languages, blocked: [] }] : [], []);

function declaredNmt({ translations = [], pairs = [] }: ReportedLanguages): NmtAbility {
  const products: Product[] = [];
  const listed: Direction[] = foldPairs(pairs);
  for (const translation of translations) {
    const blocked = foldPairs(translation.blockedPairs);
    const product = ruleProduct(translation);
    if (product !== undefined) products.push({ ...product, blocked });
    // Another model may do what one model blocks: blocked pairs hold for their own model only.
    const supported = foldPairs(translation.supportedPairs);
    const exceptions = new Set(supported.length === 0 ? [] : blocked.map(pairKey));
    for (const pair of supported) {
      if (exceptions.size === 0 || !exceptions.has(pairKey(pair))) listed.push(pair);
    }
  }
  return uniteAbilities(products, listed);
}

function ruleProduct({ rule, languages }: ReportedTranslation): Omit<Product, 'blocked'> | undefined {
  const folded = languages === ANY ? ANY : foldLanguages(languages);
  switch (rule.toLowerCase()) {
    case 'any_to_any':
      return { sources: folded, targets: folded };
    case 'any_to_en':
      return { sources: folded, targets: ENGLISH };
    case 'en_to_any':
      return { sources: ENGLISH, targets: folded };
    default:
      return undefined;
  }
}

function modelNmt(models: readonly ReportedModel[], unknown: LanguageSet): NmtAbility {
  const products = models.map(({ sourceLanguage, targetLanguage }) => ({
    sources: oneLanguage(sourceLanguage, unknown),
    targets: oneLanguage(targetLanguage, unknown),
    blocked: [],
  }));
  return uniteAbilities(products, []);
}

function modelLanguages(models: readonly ReportedModel[], stage: string, unknown: LanguageSet): LanguageSet {
  const fitting = models.filter(({ kind }) => isKind(kind, stage));
  if (fitting.length === 0) return unknown;
  return union(
    NONE,
    ...fitting.map(({ sourceLanguage, targetLanguage }) =>
      oneLanguage(stage === 'tts' ? (targetLanguage ?? sourceLanguage) : sourceLanguage, unknown),
    ),
  );
}

const isKind = (kind: string, stage: string): boolean => kind.trim().toLowerCase() === stage;

/** A model without languages has all of them, if the settings accept unknown languages. */
function oneLanguage(tag: string | undefined, unknown: LanguageSet): LanguageSet {
  if (tag === undefined || tag === '' || foldLanguage(tag) === AUTO) return unknown;
  return [foldLanguage(tag)];
}

function union(...sets: readonly LanguageSet[]): LanguageSet {
  const names = new Set<string>();
  for (const set of sets) {
    if (set === ANY) return ANY;
    for (const language of set) names.add(language);
  }
  return [...names].sort();
}

/** Thousands of pairs name few languages, so each tag is folded once. */
function foldPairs(pairs: readonly Direction[]): Direction[] {
  const found: Direction[] = [];
  const folded = new Map<string, string>();
  const fold = (tag: string): string => {
    const known = folded.get(tag);
    if (known !== undefined) return known;
    const language = foldLanguage(tag) === AUTO ? '' : foldLanguage(tag);
    folded.set(tag, language);
    return language;
  };
  for (const pair of pairs) {
    const source = fold(pair.source);
    const target = fold(pair.target);
    if (source !== '' && target !== '') found.push({ source, target });
  }
  return found;
}

const pairKey = ({ source, target }: Direction): string => `${source}>${target}`;
