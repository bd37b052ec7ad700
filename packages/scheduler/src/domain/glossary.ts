/** Vocabulary: glossaries, terms with a prescribed translation, and which of them concern a job. Pure. */
import type { JobSpec } from './job-spec.ts';
import { AUTO, type Language } from './language.ts';

/** Of one tenant. */
export const MOST_GLOSSARIES = 50;
/** Of one job. */
export const MOST_TERMS_OF_JOB = 200;

export interface Term {
  readonly source: string;
  readonly target: string;
}

export interface GlossaryTerm extends Term {
  readonly from: Language;
  readonly to: Language;
}

export interface Glossary {
  readonly glossaryId: string;
  readonly terms: readonly GlossaryTerm[];
  readonly changedAt: number;
}

/** What a job takes along, so that later changes of the glossary do not matter, nor where the job runs. */
export interface JobGlossary {
  readonly glossaryId: string;
  readonly terms: readonly Term[];
}

type Translation = Pick<
  JobSpec,
  'sourceLanguage' | 'targetLanguage' | 'languageA' | 'languageB' | 'inputText'
>;

/** The terms for the languages of a job; for a job with text, those that occur in it. */
export function termsFor({ terms }: Glossary, spec: Translation): readonly Term[] {
  const { inputText } = spec;
  const text = inputText?.toLowerCase();
  const found: Term[] = [];
  for (const { from, to, source, target } of terms) {
    if (!isTranslated(spec, from, to) || text?.includes(source.toLowerCase()) === false) continue;
    found.push({ source, target });
    if (found.length === MOST_TERMS_OF_JOB) break;
  }
  return found;
}

function isTranslated(
  { sourceLanguage: source, targetLanguage: target, languageA: a, languageB: b }: Translation,
  from: Language,
  to: Language,
): boolean {
  // Either of two people may be speaking.
  if (a !== undefined && b !== undefined && ((from === a && to === b) || (from === b && to === a)))
    return true;
  return to === target && (from === source || source === AUTO);
}
