/** Hot path: the one hook before a route: is the server taking work, who is this, has it budget left. Synchronous. */
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { DEFAULT_TENANT } from '../../../domain/ids.ts';
import { bearerOf } from '../../access/bearer.ts';
import type { Gate, Principal, Role } from '../../access/gate.ts';
import { isOwnPage } from '../../access/own-page.ts';
import { DRAINING_REFUSAL, type Refusal } from '../../wire/error-answer.ts';
import type { Direct } from './handle-directly.ts';
import { DRAINING, type HttpServices } from './http-services.ts';
import { replyError } from './reply-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes that have a role. */
    principal: Principal;
  }
}

export interface Entry {
  readonly role: Role;
  /** Brings new work, which a draining server refuses. */
  readonly isIntake?: boolean;
  /** The body may name the tenant, so the route charges the tenant of whoever has none by token. */
  readonly namesTenant?: boolean;
}

type Services = Pick<HttpServices, 'gate' | 'readiness' | 'settings'>;

/** `direct`: takes the requests it can handle from here on. */
export function authorize(services: Services, entry: Entry, direct?: Direct): onRequestHookHandler {
  return (request, reply, done) => {
    const refusal = refuses(services, entry, request);
    if (refusal !== undefined) replyError(reply, refusal);
    else if (direct === undefined || !direct(request, reply)) done();
  };
}

function refuses(services: Services, entry: Entry, request: FastifyRequest): Refusal | undefined {
  const { gate } = services;
  if (entry.isIntake === true && services.readiness().reasons.includes(DRAINING)) return DRAINING_REFUSAL;
  // Those of Fastify's request are behind two more properties.
  const { headers, socket } = request.raw;
  const { authorization, host } = headers;
  const token = authorization === undefined ? undefined : bearerOf(authorization);
  const address = socket.remoteAddress ?? '';
  const admission = gate.admit({ address, token, host }, entry.role);
  if (admission.kind === 'refused') return { code: admission.code, detail: admission.message };
  const { principal } = admission;
  if (principal.isAnonymous && isForeignPage(headers, services.settings.corsOrigins)) {
    return { code: 'FORBIDDEN', detail: 'a page of another origin may not act without a token' };
  }
  request.principal = principal;
  return overspends(gate.spend(payerOf(principal, entry)));
}

/** Nodes have no tenant, and who may name one is charged as that when the body is known; all pay into the budget of all. */
function payerOf(principal: Principal, { role, namesTenant }: Entry): string | undefined {
  if (role === 'node') return undefined;
  return principal.tenantId ?? (namesTenant === true ? undefined : DEFAULT_TENANT);
}

/** Says so if there was nothing left in a budget. */
export function overspends(spending: ReturnType<Gate['spend']>): Refusal | undefined {
  if (spending.kind === 'ok') return undefined;
  const whose = spending.limit === 'tenant' ? 'of this tenant' : 'in all';
  return {
    code: 'RATE_LIMITED',
    detail: `too many requests ${whose}`,
    retryAfterMs: spending.retryAfterMs,
  };
}

/**
 * A page may send simple requests anywhere. Those that write name their origin; of those that only read, some browsers say
 * whether they cross sites, and fetching jobs takes them away.
 */
function isForeignPage(
  { origin, host, 'sec-fetch-site': site }: FastifyRequest['headers'],
  listed: readonly string[],
): boolean {
  return origin === undefined ? site === 'cross-site' : !isOwnPage(origin, host, listed);
}
