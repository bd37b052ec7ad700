/** Hot path: tokens for one job each: a node may fetch the audio of a job that it received, and no other. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JobId } from '../../domain/ids.ts';

export interface AudioTokens {
  issue(jobId: JobId): string;
  /** Compares in constant time. */
  opens(jobId: JobId, token: string): boolean;
}

/** `secret` belongs to this process. Audio and its tokens end with the process. */
export function createAudioTokens({ secret }: { readonly secret: Buffer }): AudioTokens {
  const issue = (jobId: JobId): string => createHmac('sha256', secret).update(jobId).digest('base64url');
  return {
    issue,
    opens(jobId, token) {
      // Compared as text: decoding would accept several spellings of one token.
      const expected = Buffer.from(issue(jobId));
      const presented = Buffer.from(token);
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    },
  };
}
