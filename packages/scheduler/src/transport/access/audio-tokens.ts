/** Hot path: one-job tokens: whoever was handed the job may fetch its audio, and nobody else's. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JobId } from '../../domain/ids.ts';

export interface AudioTokens {
  issue(jobId: JobId): string;
  /** Takes as long for a token that is nearly right as for any other. */
  opens(jobId: JobId, token: string): boolean;
}

/** `secret`: of this process and nobody else. With the process go the audio and every token for it. */
export function createAudioTokens({ secret }: { readonly secret: Buffer }): AudioTokens {
  const issue = (jobId: JobId): string => createHmac('sha256', secret).update(jobId).digest('base64url');
  return {
    issue,
    opens(jobId, token) {
      // As text: decoding would take several spellings for the same token.
      const expected = Buffer.from(issue(jobId));
      const presented = Buffer.from(token);
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    },
  };
}
