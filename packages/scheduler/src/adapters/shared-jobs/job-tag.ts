/** Which record a job id and a request share: the id of a bound job is "job-<digest of tenant and request>-<random>". Pure. */
import type { JobId, TenantId } from '../../domain/ids.ts';

const BOUND = /^job-[A-Za-z0-9_-]{22}-/;
const [FROM, TO] = ['job-'.length, 'job-'.length + 22];

/** The digest of its request, or the id of a job that has none: what lies together is named after it. */
export const jobTag = (jobId: JobId): string => (BOUND.test(jobId) ? jobId.slice(FROM, TO) : jobId);

export const requestTag = (digest: (text: string) => string, tenantId: TenantId, requestId: string): string =>
  digest(`${tenantId}\n${requestId}`);
