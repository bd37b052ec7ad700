/** The glossaries of a tenant: stored, listed, read and removed by its server tokens and by operators. */
import {
  type GlossaryBody,
  type GlossaryPath,
  type GlossaryQuery,
  MOST_TERMS_OF_PAIR,
  type GlossaryTerm as SentTerm,
} from '@lingua/protocol';
import { type Glossary, type GlossaryTerm, MOST_GLOSSARIES } from '../../../domain/glossary.ts';
import type { TenantId } from '../../../domain/ids.ts';
import { AUTO, foldLanguage } from '../../../domain/language.ts';
import type { GlossaryStore } from '../../../ports/glossary-store.ts';
import type { Principal } from '../../access/gate.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { targetInPath } from '../server/log-action.ts';

type One = { Params: GlossaryPath; Querystring: GlossaryQuery };

export function addGlossaryRoutes(
  routes: Routes,
  { clock, gate }: Pick<HttpServices, 'clock' | 'gate'>,
  glossaries: GlossaryStore,
): void {
  /** A minted token is in the hands of one user of the tenant. */
  function tenantFor(principal: Principal, { tenant_id }: GlossaryQuery): TenantId | Refusal {
    if (principal.scope !== undefined) return NOT_FOR_USERS;
    const tenant = gate.tenantOf(principal, tenant_id);
    return tenant.kind === 'tenant'
      ? tenant.tenantId
      : { code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' };
  }

  routes.add<One & { Body: GlossaryBody }>(
    'POST',
    '/v1/glossaries/:id',
    { audit: targetInPath },
    async ({ params: { id }, query, body, principal }, reply) => {
      const tenantId = tenantFor(principal, query);
      if (typeof tenantId !== 'string') return replyError(reply, tenantId);
      const terms = readTerms(body.terms);
      if (!Array.isArray(terms)) return replyError(reply, terms as Refusal);
      const stored = await glossaries.put(tenantId, { glossaryId: id, terms, changedAt: clock.now() });
      if (stored === 'full') return replyError(reply, FULL);
      return { ok: true, glossary_id: id, terms: terms.length };
    },
  );

  routes.add<{ Querystring: GlossaryQuery }>(
    'GET',
    '/v1/glossaries',
    {},
    async ({ query, principal }, reply) => {
      const tenantId = tenantFor(principal, query);
      if (typeof tenantId !== 'string') return replyError(reply, tenantId);
      return { glossaries: [...(await glossaries.list(tenantId))] };
    },
  );

  routes.add<One>('GET', '/v1/glossaries/:id', {}, async ({ params: { id }, query, principal }, reply) => {
    const tenantId = tenantFor(principal, query);
    if (typeof tenantId !== 'string') return replyError(reply, tenantId);
    const glossary = await glossaries.get(tenantId, id);
    return glossary === undefined ? replyError(reply, NO_SUCH_GLOSSARY) : viewGlossary(glossary);
  });

  routes.add<One>(
    'DELETE',
    '/v1/glossaries/:id',
    { audit: targetInPath },
    async ({ params: { id }, query, principal }, reply) => {
      const tenantId = tenantFor(principal, query);
      if (typeof tenantId !== 'string') return replyError(reply, tenantId);
      return (await glossaries.remove(tenantId, id)) ? { ok: true } : replyError(reply, NO_SUCH_GLOSSARY);
    },
  );
}

function readTerms(sent: readonly SentTerm[]): readonly GlossaryTerm[] | Refusal {
  const pairs = new Map<string, Set<string>>();
  const terms: GlossaryTerm[] = [];
  for (const [at, { src_lang, tgt_lang, source, target }] of sent.entries()) {
    const [from, to] = [foldLanguage(src_lang), foldLanguage(tgt_lang)];
    const invalid = (field: string, detail: string): Refusal => ({
      code: 'INVALID_MESSAGE',
      detail,
      field: `/terms/${at}/${field}`,
    });
    if (from === AUTO) return invalid('src_lang', '"src_lang" of a term must name its language');
    if (to === AUTO || to === from)
      return invalid('tgt_lang', '"tgt_lang" of a term must name another language than "src_lang"');
    const pair = `${from}>${to}`;
    const known = pairs.get(pair) ?? new Set<string>();
    pairs.set(pair, known);
    const key = source.toLowerCase();
    if (known.has(key)) return invalid('source', `"${source}" is twice in the terms for ${pair}`);
    known.add(key);
    if (known.size > MOST_TERMS_OF_PAIR)
      return invalid('source', `there are more than ${MOST_TERMS_OF_PAIR} terms for ${pair}`);
    terms.push({ from, to, source, target });
  }
  return terms;
}

const viewGlossary = ({ glossaryId, terms, changedAt }: Glossary) => ({
  glossary_id: glossaryId,
  terms: terms.map(({ from, to, source, target }) => ({ src_lang: from, tgt_lang: to, source, target })),
  changed_at_ms: changedAt,
});

const NO_SUCH_GLOSSARY: Refusal = {
  code: 'NOT_FOUND',
  detail: 'the tenant has no such glossary',
  field: '/id',
};

const FULL: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: `a tenant has at most ${MOST_GLOSSARIES} glossaries: remove one that is not used any more`,
  field: '/id',
};

const NOT_FOR_USERS: Refusal = {
  code: 'FORBIDDEN',
  detail: 'a minted token may not read or change the glossaries of its tenant',
};
