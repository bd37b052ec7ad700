/** Reads a job if this peer may see it: another tenant's or session's job counts as absent (I10). If texts are not stored, a client reads a result once. */
import type { FastifyReply } from 'fastify';
import { isErased } from '../../../domain/erased-job.ts';
import type { JobId } from '../../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import type { Principal } from '../../access/gate.ts';
import { sessionRefusal } from '../../access/token-scope.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { HttpServices } from '../server/http-services.ts';

export async function readJob(
  services: Pick<HttpServices, 'gate' | 'reader'>,
  principal: Principal,
  jobId: JobId,
): Promise<JobRecord | undefined> {
  const job = await services.reader.get(jobId);
  if (job === undefined || services.gate.tenantOf(principal, job.tenantId).kind !== 'tenant')
    return undefined;
  return sessionRefusal(principal.scope, job.sessionId, '/id') === undefined ? job : undefined;
}

export const NO_SUCH_JOB: Refusal = { code: 'NOT_FOUND', detail: 'there is no such job', field: '/id' };

/** With privacy.store_texts = false a result is erased when the reply with it was sent. */
export function eraseWhenSent(
  { eraseDelivered }: Pick<HttpServices, 'eraseDelivered'>,
  principal: Principal,
  reply: FastifyReply,
  { jobId, state, result }: JobRecord,
): void {
  if (eraseDelivered === undefined || result === undefined || !isSettled(state) || isErased(result)) return;
  if (isClient(principal)) reply.raw.once('finish', () => eraseDelivered(jobId));
}

/** An operator or a viewer who looks at a job must not take its result away from the client. */
export const isClient = ({ roles, isAnonymous }: Principal): boolean =>
  roles.has('client') && (isAnonymous || !roles.has('operator'));
