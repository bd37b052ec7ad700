/** Mints a short-lived token for a user: clients for their tenant, admins for every tenant and for viewers and operators. */
import { randomUUID } from 'node:crypto';
import {
  DEFAULT_TOKEN_SECONDS,
  type TokenMint,
  type TokenMintReply,
  type WhoamiReply,
} from '@lingua/protocol';
import { describePrincipal, type Principal } from '../../access/gate.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import type { AuditedFields } from '../server/log-action.ts';

export function addTokenRoutes(routes: Routes, { gate, clock }: Pick<HttpServices, 'gate' | 'clock'>): void {
  routes.add<{ Body: TokenMint }>(
    'POST',
    '/v1/tokens',
    { audit: mintedIn },
    async ({ body, principal }, reply) => {
      reply.header('cache-control', 'no-store');
      const refusal = refusalOf(principal, body);
      if (refusal !== undefined) return replyError(reply, refusal);
      const { role = 'client', user_id: sub, session_id, languages, expires_in_seconds } = body;
      const tenant_id = body.tenant_id ?? principal.tenantId;
      const iat = Math.floor(clock.now() / 1_000);
      const exp = iat + (expires_in_seconds ?? DEFAULT_TOKEN_SECONDS);
      const by = describePrincipal(principal);
      const claims = omitUndefined({
        sub,
        role,
        tenant_id,
        session_id,
        languages,
        by,
        jti: randomUUID(),
        iat,
        exp,
      });
      const token = await gate.mint(claims);
      if (token === undefined) return replyError(reply, NO_KEYS);
      return omitUndefined({ token, expires_at_ms: exp * 1_000, role, tenant_id }) satisfies TokenMintReply;
    },
  );
}

/** For programs and pages that show only what their caller may do. */
export function addWhoamiRoute(routes: Routes): void {
  routes.add('GET', '/v1/whoami', { isForGuests: true }, ({ principal }, reply) => {
    const { role, roles, isAnonymous, tokenName, tenantId, expiresAt, scope } = principal;
    const room = scope?.room;
    return reply.send(
      omitUndefined({
        role,
        roles: [...roles],
        is_anonymous: isAnonymous,
        name: tokenName,
        tenant_id: tenantId,
        room: room && omitUndefined({ room_id: room.roomId, role: room.role, language: room.language }),
        expires_at_ms: expiresAt,
      }) satisfies WhoamiReply,
    );
  });
}

/** Whose token it is, and what it may do. */
const mintedIn: AuditedFields = ({ body }) => {
  const { user_id, role, tenant_id, session_id, expires_in_seconds } = (body ?? {}) as Record<
    string,
    unknown
  >;
  return {
    target: asText(user_id),
    details: {
      minted_role: asText(role) ?? 'client',
      minted_tenant_id: asText(tenant_id),
      minted_session_id: asText(session_id),
      expires_in_seconds: typeof expires_in_seconds === 'number' ? expires_in_seconds : DEFAULT_TOKEN_SECONDS,
    },
  };
};

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A caller gives away at most what it has. */
function refusalOf(
  principal: Principal,
  { role = 'client', tenant_id, session_id, languages }: TokenMint,
): Refusal | undefined {
  if (role !== 'client' && (tenant_id ?? session_id ?? languages) !== undefined)
    return forbidden('/role', `only a client has a tenant_id, session_id or languages, not a ${role}`);
  if (principal.role === 'admin')
    return role === 'client' && tenant_id === undefined
      ? {
          code: 'INVALID_MESSAGE',
          detail: 'tenant_id is missing: a client needs its tenant',
          field: '/tenant_id',
        }
      : undefined;
  if (principal.mayMint !== true) return NOT_MINTING;
  if (role !== 'client') return forbidden('/role', 'only an admin may mint tokens of this role');
  if (tenant_id !== undefined && tenant_id !== principal.tenantId)
    return forbidden('/tenant_id', 'tenant_id is not the tenant of this token');
  return undefined;
}

const forbidden = (field: string, detail: string): Refusal => ({
  code: 'FORBIDDEN',
  detail,
  ...(field !== '' && { field }),
});

export const NOT_MINTING = forbidden(
  '',
  'this token may not mint others: set may_mint = true in its row of [[server.tokens]]',
);

export const NO_KEYS: Refusal = {
  code: 'UNSUPPORTED_FEATURE',
  detail: 'this scheduler has no keys to sign tokens: set server.token_keys_file',
};
