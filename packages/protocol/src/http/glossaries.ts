/** Glossaries of a tenant. */
import { type Static, Type } from 'typebox';
import { count, flag, id, list, measure, optional } from '../shared/bounded.ts';
import { GlossaryTerm, MOST_TERMS } from '../shared/glossary.ts';

/** Of one tenant. */
export const MOST_GLOSSARIES = 50;

export const GlossaryPath = Type.Object(
  { id: id('Glossary') },
  { title: 'GlossaryPath', description: 'Names a glossary' },
);
export type GlossaryPath = Static<typeof GlossaryPath>;

export const GlossaryQuery = Type.Object(
  { tenant_id: optional(id('Tenant; must agree with the credential')) },
  { title: 'GlossaryQuery', description: 'Whose glossaries' },
);
export type GlossaryQuery = Static<typeof GlossaryQuery>;

const terms = list(GlossaryTerm, MOST_TERMS, 'Each source term at most once per language pair');

export const GlossaryBody = Type.Object(
  { terms },
  { title: 'GlossaryBody', description: 'The whole glossary; it replaces what was stored under its id' },
);
export type GlossaryBody = Static<typeof GlossaryBody>;

export const GlossaryView = Type.Object(
  { glossary_id: id('Glossary'), terms, changed_at_ms: measure('When it was stored (epoch ms)') },
  { title: 'GlossaryView', description: 'A glossary' },
);
export type GlossaryView = Static<typeof GlossaryView>;

export const GlossaryStored = Type.Object(
  { ok: flag('Always true'), glossary_id: id('Glossary'), terms: count('Number of terms') },
  { title: 'GlossaryStored', description: 'It counts for new jobs, on other instances within 5 seconds' },
);
export type GlossaryStored = Static<typeof GlossaryStored>;

export const GlossariesReply = Type.Object(
  { glossaries: list(id('Glossary'), MOST_GLOSSARIES, 'Their ids, in order') },
  { title: 'GlossariesReply', description: 'The glossaries of a tenant' },
);
export type GlossariesReply = Static<typeof GlossariesReply>;

export const GlossaryRemoved = Type.Object(
  { ok: flag('Always true') },
  { title: 'GlossaryRemoved', description: 'It is removed; running jobs keep its terms' },
);
export type GlossaryRemoved = Static<typeof GlossaryRemoved>;
