/** Simulation: names that a seed decides. They look like those of real instances: digests of requests are real digests. */
import { hash } from 'node:crypto';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';

const DIGEST_CHARS = 22;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const RANDOM_CHARS = 8;

/** `maker`: who makes the names; two makers with equal luck still never make the same. */
export function createSeededIds(deps: {
  chance: Chance;
  clock: Clock;
  maker: string;
  digestsRequests: boolean;
}): IdSource {
  const { chance, clock, maker } = deps;
  let made = 0;
  let lastIndex = 0;

  function random(): string {
    made += 1;
    let text = '';
    for (let at = 0; at < RANDOM_CHARS; at++) text += LETTERS.charAt(Math.floor(chance() * LETTERS.length));
    return `${text}${maker}${made.toString(36)}`;
  }

  const digest = (content: string | Uint8Array): string =>
    hash('sha256', content, 'base64url').slice(0, DIGEST_CHARS);

  return {
    jobId: (tenantId, requestId) =>
      requestId === undefined || !deps.digestsRequests
        ? `job-${random()}`
        : `job-${digest(`${tenantId}\n${requestId}`)}-${random()}`,
    nodeId: () => `node-${random()}`,
    sessionId: () => `s-${random()}`,
    traceId: random,
    utteranceIndex() {
      lastIndex = Math.max(lastIndex + 1, clock.now() * 1_000 + Math.floor(chance() * 1_000));
      return lastIndex;
    },
    digest,
  };
}
