/** Cold path: whose a message is that becomes a dead letter. Its job's record tells; the text of the message is not asked, because nodes write parts of it. */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { HEAD_BYTES } from '../../ports/dead-letters.ts';
import type { TenantOfMessage } from '../../ports/inbox.ts';
import { headingOf } from './message-heading.ts';

/** Without a record, or while it cannot be read, the message counts with those of no known tenant. */
export const createTenantOfMessage =
  (recordOf: (jobId: JobId) => Promise<JobRecord | undefined>): TenantOfMessage =>
  async (body) => {
    const { jobId } = headingOf(body.slice(0, HEAD_BYTES));
    if (jobId === undefined) return undefined;
    return (await recordOf(jobId).catch(() => undefined))?.tenantId;
  };
