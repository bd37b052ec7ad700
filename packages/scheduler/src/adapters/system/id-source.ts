/** New ids from the random numbers of the system. */
import { hash, randomFillSync, randomInt } from 'node:crypto';
import { JOB_PREFIX, MOST_NUMBERS, NAME_CHARS, spellNumber } from '../../domain/numbered/job-name.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';

/**
 * Six bits per character make 132 bits per id: unguessable. Made 64 ids at a time. Not more: an id that is a slice keeps the whole text
 * alive.
 */
const TEXT_BYTES = (64 * NAME_CHARS * 6) / 8;
/** Read for a thousand ids at a time: a call of the system takes about as long for a few bytes as for many. */
const POOL_BYTES = 16 * TEXT_BYTES;
const DIGEST_CHARS = 22;

/**
 * `digestsRequests`: for stores that find a job's record by its request. A single process has the bindings in memory and needs no digest.
 */
export function createIdSource(deps: { clock: Clock; digestsRequests: boolean }): IdSource {
  const pool = Buffer.alloc(POOL_BYTES);
  let spelt = POOL_BYTES;
  let text = '';
  let at = 0;
  let lastIndex = 0;
  // A random start, so that an id does not reveal how many jobs there were.
  let jobNumber = randomInt(MOST_NUMBERS);

  function spell(): void {
    if (spelt === POOL_BYTES) {
      randomFillSync(pool);
      spelt = 0;
    }
    text = pool.toString('base64url', spelt, spelt + TEXT_BYTES);
    // Used ids are not kept here.
    pool.fill(0, spelt, spelt + TEXT_BYTES);
    spelt += TEXT_BYTES;
    at = 0;
  }

  function random(chars: number): string {
    if (at + chars > text.length) spell();
    at += chars;
    return text.slice(at - chars, at);
  }

  const digest = (content: string | Uint8Array): string =>
    hash('sha256', content, 'base64url').slice(0, DIGEST_CHARS);

  return {
    jobId: (tenantId, requestId) =>
      requestId === undefined || !deps.digestsRequests
        ? JOB_PREFIX + random(NAME_CHARS) + spellNumber(jobNumber++)
        : `${JOB_PREFIX}${digest(`${tenantId}\n${requestId}`)}-${random(NAME_CHARS / 2)}`,
    nodeId: () => `node-${random(NAME_CHARS)}`,
    sessionId: () => `s-${random(NAME_CHARS)}`,
    traceId: () => random(NAME_CHARS),
    utteranceIndex() {
      // Milliseconds × 1000 stay below 2^53 until the year 2255; the low digits differ between instances.
      const candidate = deps.clock.now() * 1_000 + Math.floor(Math.random() * 1_000);
      lastIndex = Math.max(lastIndex + 1, candidate);
      return lastIndex;
    },
    digest,
  };
}
