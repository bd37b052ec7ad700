/** Hot path: the hook before a route checks draining, credential and request budget. Asynchronous only for new minted tokens. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { DEFAULT_TENANT, type NodeId } from '../../../domain/ids.ts';
import { certificateNamesOf } from '../../access/client-certificate.ts';
import type { Admission, Gate, Principal, Role } from '../../access/gate.ts';
import { guestRefusal } from '../../access/token-scope.ts';
import { readBearerToken } from '../../access/tokens.ts';
import { DRAINING_REFUSAL, type Refusal } from '../../wire/error-reply.ts';
import type { Direct } from './handle-directly.ts';
import { replyError } from './handle-error.ts';
import { DRAINING, type HttpServices } from './http-services.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes with roles. */
    principal: Principal;
  }
}

export interface Entry {
  readonly roles: readonly Role[];
  /** Brings new work, which a draining instance refuses. */
  readonly isIntake?: boolean;
  /** The body may name the tenant. The route then charges it for peers whose token names none. */
  readonly namesTenant?: boolean;
  /** The token may be in the query. */
  readonly hasQueryToken?: boolean;
  /** Also for the guests of a room; `id` in the path names the room. */
  readonly isForGuests?: boolean;
}

/** Replies to a credential contain what people said: no cache keeps them, and no browser takes their text for a page. */
export const PRIVATE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

type Services = Pick<HttpServices, 'gate' | 'readiness' | 'settings'>;

/** `direct` handles the requests that it can. */
export function authorize(services: Services, entry: Entry, direct?: Direct): onRequestHookHandler {
  const { gate } = services;

  function proceed(
    admission: Admission,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (fault?: Error) => void,
  ): void {
    const refusal = enter(gate, entry, request, admission);
    if (refusal !== undefined) replyError(reply, refusal);
    else if (direct === undefined || !direct(request, reply)) done();
  }

  return (request, reply, done) => {
    // Not on the direct path: its short reply is written at once, and contains nothing that people said.
    if (direct === undefined) reply.headers(PRIVATE);
    if (entry.isIntake === true && services.readiness().reasons.includes(DRAINING)) {
      replyError(reply, DRAINING_REFUSAL);
      return;
    }
    const admission = admit(gate, entry, request);
    if (!(admission instanceof Promise)) proceed(admission, request, reply, done);
    else admission.then((given) => proceed(given, request, reply, done), done);
  };
}

function admit(gate: Gate, entry: Entry, request: FastifyRequest): ReturnType<Gate['admit']> {
  // `raw` directly: Fastify's getters add two property reads.
  const { headers, socket } = request.raw;
  const { authorization, host, origin, 'sec-fetch-site': fetchSite } = headers;
  const token = authorization === undefined ? queryToken(entry, request) : readBearerToken(authorization);
  const address = gate.addressOf(request.raw);
  const certificateNames = token === undefined ? certificateNamesOf(socket) : undefined;
  return gate.admit({ address, token, certificateNames, host, origin, fetchSite }, entry.roles);
}

function enter(gate: Gate, entry: Entry, request: FastifyRequest, admission: Admission): Refusal | undefined {
  if (admission.kind === 'refused') return refusalOf(admission);
  const { principal } = admission;
  request.principal = principal;
  if (principal.scope?.room !== undefined) {
    const { id: roomId } = request.params as { id?: string };
    const beyond = guestRefusal(principal.scope, { isForGuests: entry.isForGuests === true, roomId });
    if (beyond !== undefined) return { code: 'FORBIDDEN', detail: beyond.message };
  }
  return refusalOfSpending(gate.spend(chargedTenant(principal, entry)));
}

export const refusalOf = ({
  code,
  message,
  retryAfterMs,
}: Extract<Admission, { kind: 'refused' }>): Refusal => ({ code, detail: message, retryAfterMs });

/** The query is parsed but not yet validated. */
function queryToken({ hasQueryToken }: Entry, { query }: FastifyRequest): string | undefined {
  if (hasQueryToken !== true) return undefined;
  const { token } = query as { token?: unknown };
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Nodes have no tenant. A tenant named in the body is charged later by the route. Every request pays the global budget. */
function chargedTenant(principal: Principal, { namesTenant }: Entry): string | undefined {
  if (principal.role === 'node') return undefined;
  return principal.tenantId ?? (namesTenant === true ? undefined : DEFAULT_TENANT);
}

/** The refusal for an exhausted budget. */
export function refusalOfSpending(spending: ReturnType<Gate['spend']>): Refusal | undefined {
  if (spending.kind === 'ok') return undefined;
  const whose = spending.limit === 'tenant' ? 'of this tenant' : 'in total';
  return {
    code: 'RATE_LIMITED',
    detail: `too many requests ${whose}`,
    retryAfterMs: spending.retryAfterMs,
  };
}

/** The credential allows the node id, and no other credential has registered it. */
export function mayActForNode(
  services: Pick<HttpServices, 'gate' | 'registry' | 'remoteNodes'>,
  principal: Principal,
  nodeId: NodeId,
): boolean {
  if (!services.gate.mayUseNode(principal, nodeId)) return false;
  const owner = (services.remoteNodes?.find(nodeId) ?? services.registry.get(nodeId))?.credential;
  return owner === undefined || owner === principal.credential || principal.roles.has('operator');
}
