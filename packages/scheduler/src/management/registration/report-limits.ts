/** Cold path: limits of a node's report. Pure; checked before anything is computed from the report. */
import type { CapabilityReport, ReportedLanguages, ReportedModel } from '../../domain/capability-report.ts';
import { ANY } from '../../domain/language.ts';
import type { NodeProfile } from '../../domain/profile.ts';

/** All directions among 64 languages; so many are computed within five milliseconds (I6). */
export const MAX_PAIRS = 4_096;
/** Pairs left to list when models are united: two large models that share few languages have several thousand. */
const MAX_UNITED_PAIRS = 10_000;
/** Several models with so many languages are united within a few milliseconds. */
const MAX_UNITED_LANGUAGES = 512;
const MAX_UNITED_CELLS = 1_000_000;
const MAX_ENTRIES = 2_000;

/** What exceeds the limits, as a message for the author of the node; undefined: the report is within the limits. */
export function excessOf(report: Partial<CapabilityReport>): string | undefined {
  const { models = [], services = [], serviceStates, types = [], languages } = report;
  const lists = {
    installed_models: models.length,
    installed_services: services.length,
    capability_state: serviceStates?.size ?? 0,
    capability_by_type: types.length,
    'language_capabilities.asr_languages': languages?.asr?.length ?? 0,
    'language_capabilities.tts_languages': languages?.tts?.length ?? 0,
    'language_capabilities.semantic_languages': languages?.semantic?.length ?? 0,
    'language_capabilities.nmt_capabilities': languages?.translations?.length ?? 0,
  };
  for (const [field, length] of Object.entries(lists)) {
    if (length > MAX_ENTRIES) return `${field} has ${length} entries; the limit is ${MAX_ENTRIES}`;
  }
  return languages === undefined ? excessOfModels(models) : excessOfTranslations(languages);
}

/** Pairs that only arise when models are united. */
export function excessOfPairs({ nmt }: NodeProfile): string | undefined {
  const listed = nmt.pairs.length + nmt.blocked.length;
  return listed > MAX_UNITED_PAIRS ? tooManyPairs(listed, MAX_UNITED_PAIRS) : undefined;
}

const tooManyPairs = (listed: number, limit: number): string =>
  `language_capabilities amounts to ${listed} explicit language pairs; the limit is ${limit}: ` +
  'describe them by rules (any_to_any, any_to_en, en_to_any), or over HTTP leave nmt_pairs out for all among semantic_langs';

/** If a node declares no languages, the languages of its models are used. */
function excessOfModels(models: readonly ReportedModel[]): string | undefined {
  const named = new Set<string | undefined>();
  for (const model of models) named.add(model.sourceLanguage).add(model.targetLanguage);
  return named.size > MAX_UNITED_LANGUAGES
    ? `installed_models names ${named.size} languages; the limit is ${MAX_UNITED_LANGUAGES}`
    : undefined;
}

function excessOfTranslations({ translations = [], pairs = [] }: ReportedLanguages): string | undefined {
  const lists = [pairs, ...translations.flatMap((model) => [model.supportedPairs, model.blockedPairs])];
  const listed = lists.reduce((sum, list) => sum + list.length, 0);
  if (listed > MAX_PAIRS) return tooManyPairs(listed, MAX_PAIRS);
  if (listed === 0 && translations.length <= 1) return undefined;
  const named = new Set<string>();
  for (const { languages } of translations)
    if (languages !== ANY) for (const language of languages) named.add(language);
  for (const list of lists) for (const { source, target } of list) named.add(source).add(target);
  if (named.size > MAX_UNITED_LANGUAGES) {
    return `language_capabilities names ${named.size} languages in pairs and several models; the limit is ${MAX_UNITED_LANGUAGES}`;
  }
  const cells = translations.reduce((sum, model) => sum + model.languages.length ** 2, 0);
  if (cells > MAX_UNITED_CELLS) {
    return `language_capabilities.nmt_capabilities unites ${cells} pairs; the limit is ${MAX_UNITED_CELLS}`;
  }
  return undefined;
}
