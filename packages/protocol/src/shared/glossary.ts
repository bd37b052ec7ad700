/** Terms with a prescribed translation: as a tenant stores them, and as a node gets them with a job. */
import { type Static, Type } from 'typebox';
import { extension, id, language, list, text } from './bounded.ts';

/** Of one glossary. */
export const MOST_TERMS = 2_000;
/** Of one language pair, so that a job stays small. */
export const MOST_TERMS_OF_PAIR = 200;
const LONGEST_TERM = 100;

const term = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LONGEST_TERM,
    pattern: '\\S',
    named: 'term',
    expects: `1 to ${LONGEST_TERM} characters, not only spaces`,
    description,
  });

const words = {
  source: term('The term, as it may occur in the text; upper and lower case are the same'),
  target: term('Its translation'),
};

export const GlossaryTerm = Type.Object(
  { src_lang: language('Language of the term'), tgt_lang: language('Language of its translation'), ...words },
  { title: 'GlossaryTerm', description: 'A term and its prescribed translation' },
);
export type GlossaryTerm = Static<typeof GlossaryTerm>;

export const JobGlossary = Type.Object(
  {
    glossary_id: id('Glossary'),
    terms: list(
      Type.Object(words, { title: 'JobTerm', description: 'A term of the language pair of the job' }),
      MOST_TERMS_OF_PAIR,
      'The terms for the languages of the job; for a job with text, those that occur in it',
    ),
  },
  { title: 'JobGlossary', description: 'Terms that the translation has to use' },
);
export type JobGlossary = Static<typeof JobGlossary>;

export const glossaryId = extension(
  id('Glossary of the tenant whose terms the translation uses; absent: that of the tenant, if it has one'),
);

export const glossaryUsed = extension(
  list(
    text('Term', LONGEST_TERM),
    MOST_TERMS_OF_PAIR,
    'Terms of the glossary, in the source language, that the translation used; absent: the node uses no glossary',
  ),
);
