/**
 * The verdict on a token. Browsers cannot read the status of a refused upgrade, so the client SDK asks here for the
 * reason. Open to pages of every origin; says nothing but the verdict.
 */
import type { CheckQuery, CheckReply } from '@lingua/protocol';
import { errorEntry } from '../../../domain/errors.ts';
import { certificateNamesOf } from '../../access/client-certificate.ts';
import { readBearerToken } from '../../access/tokens.ts';
import { refusalOf, refusalOfSpending } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';

export function addCheckRoute(routes: Routes, { gate }: Pick<HttpServices, 'gate'>): void {
  routes.add<{ Querystring: CheckQuery }>('GET', '/v1/check', {}, async (request, reply) => {
    reply.header('access-control-allow-origin', '*').header('cache-control', 'no-store');
    const limited = refusalOfSpending(gate.spend(undefined));
    if (limited !== undefined) return replyError(reply, limited);
    const { role } = request.query;
    const { authorization, host, origin, 'sec-fetch-site': fetchSite } = request.headers;
    const token =
      authorization === undefined ? request.query.token || undefined : readBearerToken(authorization);
    const address = gate.addressOf(request.raw);
    const certificateNames = token === undefined ? certificateNamesOf(request.raw.socket) : undefined;
    const admission = await gate.admit(
      { address, token, certificateNames, host, origin, fetchSite: fetchSite as string | undefined },
      [role === 'session' ? 'client' : 'node'],
    );
    if (admission.kind === 'admitted') return { role, is_admitted: true } satisfies CheckReply;
    if (admission.code === 'RATE_LIMITED') return replyError(reply, refusalOf(admission));
    // A token of another role is as useless here as a wrong one.
    const code = token === undefined ? admission.code : 'UNAUTHORIZED';
    return {
      role,
      is_admitted: false,
      code,
      message: admission.message,
      hint: errorEntry(code).hint,
    } satisfies CheckReply;
  });
}
