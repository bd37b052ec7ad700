/** New names from the system's randomness. */
import { hash, randomFillSync } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';

const POOL_BYTES = 8_192;
/** 16 bytes: 128 bits, unguessable. */
const NAME_BYTES = 16;
const DIGEST_CHARS = 22;

/** `digestsRequests`: for stores that find a job's record by its request. One process has the binding at hand and needs none. */
export function createIdSource(deps: { clock: Clock; digestsRequests: boolean }): IdSource {
  // One system call per few hundred names instead of one each.
  const pool = Buffer.allocUnsafe(POOL_BYTES);
  let at = POOL_BYTES;
  let lastIndex = 0;

  function random(bytes: number): string {
    if (at + bytes > POOL_BYTES) {
      randomFillSync(pool);
      at = 0;
    }
    at += bytes;
    return pool.toString('base64url', at - bytes, at);
  }

  const digest = (content: string | Uint8Array): string =>
    hash('sha256', content, 'base64url').slice(0, DIGEST_CHARS);

  return {
    jobId: (tenantId, requestId) =>
      requestId === undefined || !deps.digestsRequests
        ? `job-${random(NAME_BYTES)}`
        : `job-${digest(`${tenantId}\n${requestId}`)}-${random(NAME_BYTES / 2)}`,
    nodeId: () => `node-${random(NAME_BYTES)}`,
    sessionId: () => `s-${random(NAME_BYTES)}`,
    traceId: () => random(NAME_BYTES),
    utteranceIndex() {
      // Milliseconds × 1000 stay below 2^53 until the year 2255; the low digits keep two instances apart.
      const candidate = deps.clock.now() * 1_000 + Math.floor(Math.random() * 1_000);
      lastIndex = Math.max(lastIndex + 1, candidate);
      return lastIndex;
    },
    digest,
  };
}
