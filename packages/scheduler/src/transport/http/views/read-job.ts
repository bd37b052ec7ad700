/** Reads a job if this peer may see it; another tenant's job counts as absent (I10). */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { Principal } from '../../access/gate.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { HttpServices } from '../server/http-services.ts';

export async function readJob(
  services: Pick<HttpServices, 'gate' | 'reader'>,
  principal: Principal,
  jobId: JobId,
): Promise<JobRecord | undefined> {
  const job = await services.reader.get(jobId);
  return job !== undefined && services.gate.tenantOf(principal, job.tenantId).kind === 'tenant'
    ? job
    : undefined;
}

export const NO_SUCH_JOB: Refusal = { code: 'NOT_FOUND', detail: 'there is no such job', field: '/id' };
