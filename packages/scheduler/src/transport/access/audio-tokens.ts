/** Hot path: tokens for one job each: a node may fetch the audio of a job that it received, for as long as the job may run, and no other. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JobId } from '../../domain/ids.ts';

export interface AudioTokens {
  /** Every instance that may hand over a job of this one can issue its token, so it need not travel before the hand-over. */
  readonly isShared: boolean;
  issue(jobId: JobId): string;
  /** Compares in constant time. */
  opens(jobId: JobId, token: string): boolean;
}

const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{43})$/;

export function createAudioTokens(deps: {
  /** The first one signs, all are accepted. */
  readonly secrets: readonly [Buffer, ...Buffer[]];
  readonly isShared: boolean;
  readonly ttlMs: number;
  /** Epoch ms by a clock that all instances with the same secret share. */
  readonly now: () => number;
}): AudioTokens {
  const { secrets, isShared, ttlMs, now } = deps;
  const sign = (secret: Buffer, jobId: JobId, expiry: string): string =>
    createHmac('sha256', secret).update(`audio\n${jobId}\n${expiry}`).digest('base64url');
  return {
    isShared,
    issue(jobId) {
      const expiry = Math.ceil(now() + ttlMs).toString(36);
      return `${expiry}.${sign(secrets[0], jobId, expiry)}`;
    },
    opens(jobId, token) {
      const [, expiry, signature] = TOKEN.exec(token) ?? [];
      if (expiry === undefined || signature === undefined) return false;
      if (Number.parseInt(expiry, 36) <= now()) return false;
      return secrets.some((secret) => isEqual(signature, sign(secret, jobId, expiry)));
    },
  };
}

/** Compared as text: decoding would accept several spellings of one signature. */
export function isEqual(presented: string, expected: string): boolean {
  const [one, other] = [Buffer.from(presented), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
