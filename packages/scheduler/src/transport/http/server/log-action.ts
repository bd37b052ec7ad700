/** Logs what an operator did: the token's name, the request, its reason and the status. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../ports/log.ts';
import { redactUrl } from '../../access/redact-url.ts';

export const logAction =
  (log: Log) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { principal, method, url } = request;
    // Undefined: the request was refused before the check of its token, or by it.
    if (principal !== undefined && isByOperator(request)) {
      const actor = principal.isAnonymous ? 'anonymous' : (principal.tokenName ?? 'a token without a name');
      const fields = { actor, action: `${method} ${redactUrl(url)}`, reason: reasonIn(request) };
      log.info({ ...fields, status: reply.statusCode }, 'operator action');
    }
    done();
  };

/** Without tokens every peer has every role: then only the routes of operators tell who acts as one. */
const isByOperator = ({ principal }: FastifyRequest): boolean =>
  principal.role === 'operator' || (!principal.isAnonymous && principal.roles.has('operator'));

function reasonIn({ body, query }: FastifyRequest): string | undefined {
  for (const given of [body, query])
    if (typeof given === 'object' && given !== null && 'reason' in given) return String(given.reason);
  return undefined;
}
