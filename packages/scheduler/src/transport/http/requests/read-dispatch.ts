/** Hot path: what every submitted utterance passes: its tenant is checked and charged, then the engine's request is built. */
import type { FastifyRequest } from 'fastify';
import type { DispatchRequest } from '../../../domain/dispatch.ts';
import { createRequirements } from '../../../domain/requirements.ts';
import { languageRefusal, sessionRefusal, type TokenScope } from '../../access/token-scope.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { createLanguageReader } from '../../wire/language-reader.ts';
import { refusalOfSpending } from '../server/authorize.ts';
import type { HttpServices } from '../server/http-services.ts';
import { type Body, buildDispatch } from './dispatch-request.ts';

export type ReadDispatch = (
  request: Pick<FastifyRequest, 'principal' | 'raw'>,
  body: Body,
  /** For bodies that name no session. */
  sessionId: string,
) =>
  | { readonly kind: 'request'; readonly request: DispatchRequest }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export function createReadDispatch({
  gate,
  ids,
  settings,
}: Pick<HttpServices, 'gate' | 'ids' | 'settings'>): ReadDispatch {
  const require = createRequirements(settings.coreServices);
  const readLanguages = createLanguageReader();

  return ({ principal, raw }, body, sessionId) => {
    const tenant = gate.tenantOf(principal, body.tenant_id);
    if (tenant.kind === 'forbidden') {
      return refused({ code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' });
    }
    const { scope } = principal;
    const beyond = refusalOfScope(scope, body);
    if (beyond !== undefined) return refused(beyond);
    const limited =
      principal.tenantId === undefined
        ? refusalOfSpending(gate.spendTenantBudget(tenant.tenantId))
        : undefined;
    if (limited !== undefined) return refused(limited);
    const built = buildDispatch(body, {
      tenantId: tenant.tenantId,
      idempotencyKey: raw.headers['idempotency-key'] as string | undefined,
      utteranceIndex: ids.utteranceIndex(),
      sessionId: scope?.sessionId ?? sessionId,
      traceId: ids.traceId(),
      digest: ids.digest,
      require,
      readLanguages,
    });
    if (built.kind === 'built') return { kind: 'request', request: built.request };
    return refused({ code: 'INVALID_MESSAGE', detail: built.message, field: built.field });
  };
}

/** What a minted token does not allow. */
export function refusalOfScope(scope: TokenScope | undefined, body: Body): Refusal | undefined {
  const beyond =
    sessionRefusal(scope, body.session_id ?? scope?.sessionId, '/session_id') ?? languageRefusal(scope, body);
  return beyond && { code: 'FORBIDDEN', detail: beyond.message, field: beyond.field };
}

const refused = (refusal: Refusal) => ({ kind: 'refused', refusal }) as const;
