/** Logs and audits what an operator did: the token's name, the request, its reason and the status. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent } from '../../../ports/audit-log.ts';
import { describePrincipal, type Role } from '../../access/gate.ts';
import { redactUrl } from '../../access/redact-url.ts';
import type { HttpServices } from './http-services.ts';

export interface Action {
  readonly operationId: string;
  /** Absent: it is recorded only if the caller is an operator. */
  readonly audit?: AuditedFields | undefined;
}

/** What the line of a request has beside its caller and status. The body may be invalid. */
export type AuditedFields = (request: FastifyRequest) => Pick<AuditEvent, 'target' | 'details'>;

export const targetInPath: AuditedFields = ({ params }) => ({
  target: (params as { id?: string } | undefined)?.id,
});

export const logAction =
  (services: Pick<HttpServices, 'log' | 'audit' | 'gate'>, action: Action) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // Undefined: the request was refused before the check of its token, or by it.
    if (request.principal !== undefined) note(services, action, request, reply.statusCode);
    done();
  };

function note(
  { log, audit, gate }: Pick<HttpServices, 'log' | 'audit' | 'gate'>,
  { operationId, audit: fieldsOf }: Action,
  request: FastifyRequest,
  status: number,
): void {
  const { principal, method, url } = request;
  const isOperator = isByOperator(request);
  const reason = reasonIn(request);
  if (isOperator) {
    log.info(
      { actor: describePrincipal(principal), action: `${method} ${redactUrl(url)}`, reason, status },
      'operator action',
    );
  }
  if (!isOperator && fieldsOf === undefined) return;
  const { target, details } = (fieldsOf ?? targetInPath)(request);
  audit.record({
    action: operationId,
    result: resultOf(status),
    who: describePrincipal(principal),
    from: gate.addressOf(request.raw),
    target,
    details: { role: principal.role, tenant_id: principal.tenantId, reason, status, ...details },
  });
}

const resultOf = (status: number): AuditEvent['result'] =>
  status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';

/** Without tokens every peer has every role: then only the routes of operators tell who acts as one. */
const isByOperator = ({ principal }: FastifyRequest): boolean =>
  OPERATORS.has(principal.role) || (!principal.isAnonymous && principal.roles.has('operator'));

const OPERATORS: ReadonlySet<Role> = new Set<Role>(['operator', 'admin']);

function reasonIn({ body, query }: FastifyRequest): string | undefined {
  for (const given of [body, query])
    if (typeof given === 'object' && given !== null && 'reason' in given) return String(given.reason);
  return undefined;
}
