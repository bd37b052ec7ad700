/** Hot path: the one hook before a route: is the server taking work, who is this, has it budget left. Synchronous. */
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { DEFAULT_TENANT } from '../../domain/ids.ts';
import type { Principal, Role } from '../access/gate.ts';
import { DRAINING, type HttpServices } from './http-services.ts';
import { type Refusal, replyError } from './reply-error.ts';

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
  /** The body may name the tenant, so whoever has none by token is charged by the route. */
  readonly namesTenant?: boolean;
}

type Services = Pick<HttpServices, 'gate' | 'readiness' | 'settings'>;

export function authorize(services: Services, entry: Entry): onRequestHookHandler {
  return (request, reply, done) => {
    const refusal = refuses(services, entry, request);
    if (refusal === undefined) done();
    else replyError(reply, refusal);
  };
}

function refuses(services: Services, entry: Entry, request: FastifyRequest): Refusal | undefined {
  const { gate } = services;
  if (entry.isIntake === true && services.readiness().reasons.includes(DRAINING)) return DRAINING_REFUSAL;
  const { authorization, host, origin } = request.headers;
  const token = authorization === undefined ? undefined : bearer(authorization);
  const address = request.raw.socket.remoteAddress ?? '';
  const admission = gate.admit(
    { address, ...(token === undefined ? {} : { token }), ...(host === undefined ? {} : { host }) },
    entry.role,
  );
  if (admission.kind === 'refused') return { code: admission.code, detail: admission.message };
  const { principal } = admission;
  if (principal.isAnonymous && origin !== undefined && isForeign(origin, host, services)) {
    return { code: 'FORBIDDEN', detail: 'a page of another origin may not act without a token' };
  }
  request.principal = principal;
  return entry.namesTenant === true && principal.tenantId === undefined
    ? undefined
    : overspends(services, entry.role === 'node' ? undefined : (principal.tenantId ?? DEFAULT_TENANT));
}

/** Takes one request from the budget; says so if there is none. */
export function overspends(
  services: Pick<HttpServices, 'gate'>,
  tenantId: string | undefined,
): Refusal | undefined {
  const spending = services.gate.spend(tenantId);
  if (spending.kind === 'ok') return undefined;
  const whose = spending.limit === 'tenant' ? 'of this tenant' : 'in all';
  return {
    code: 'RATE_LIMITED',
    detail: `too many requests ${whose}`,
    retryAfterMs: spending.retryAfterMs,
  };
}

/** Another scheme is passed on whole: it is a token nobody has. */
function bearer(authorization: string): string {
  const [, token = authorization] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  return token;
}

/**
 * Who comes without a token is trusted for the network it is in, and every web page its user visits is in it too: a page
 * may send simple requests anywhere, so its origin must be this server's or listed.
 */
function isForeign(origin: string, host: string | undefined, { settings }: Pick<HttpServices, 'settings'>) {
  if (origin === `http://${host}` || origin === `https://${host}`) return false;
  return !settings.corsOrigins.includes(origin) && !settings.corsOrigins.includes('*');
}

const DRAINING_REFUSAL: Refusal = {
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  detail: 'this instance is shutting down and takes no new work',
  hint: 'Use another instance, or try again after retry_after_ms.',
  retryAfterMs: 2_000,
};
