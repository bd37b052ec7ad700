/** Hot path: which pool a session prefers for a language pair. Kept until the pair or the pools change; within the pool the node is random each time. Pure. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Languages } from '../../domain/needed-directions.ts';

/** What sessions are told of pools; how a job may move among them is not theirs to know. */
export interface Pools {
  /** Another one whenever the pools were divided anew. */
  readonly edition: unknown;
  /** The one to begin with: the tenant's own, else one of those with nodes for the languages. Undefined: it does not matter. */
  preferred(seeker: PoolSeeker, languages: Languages): number | undefined;
}

export const NO_POOLS: Pools = { edition: undefined, preferred: () => undefined };

export interface PoolChoice {
  readonly pair: string;
  readonly edition: unknown;
  readonly poolId: number | undefined;
}

export interface PoolSeeker {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

/** The choice as it was, if the pair and the pools are the same. Where no pool had nodes for the pair, one may have by now. */
export function choosePool(
  before: PoolChoice | undefined,
  seeker: PoolSeeker,
  languages: Languages,
  pools: Pools,
): PoolChoice {
  const { edition } = pools;
  const pair = pairOf(languages);
  const isMade = before?.poolId !== undefined || edition === undefined;
  if (isMade && before?.pair === pair && before.edition === edition) return before;
  return { pair, edition, poolId: pools.preferred(seeker, languages) };
}

const pairOf = ({ directions }: Languages): string =>
  directions.map(({ source, target }) => `${source}>${target}`).join();
