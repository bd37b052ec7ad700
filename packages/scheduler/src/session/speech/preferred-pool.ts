/** Hot path: the pool that a session prefers for a language pair. Kept until the pair or the pools change; within the pool every job chooses its node anew. Pure. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Languages } from '../../domain/needed-directions.ts';
import type { Region } from '../../domain/region.ts';

/** The part of the pools that sessions use. */
export interface Pools {
  /** Changes whenever the pools change. */
  readonly edition: unknown;
  /** The first pool to try: the tenant's own, else one with nodes for the languages. Undefined: no preference. */
  preferred(
    seeker: PoolSeeker & { readonly region: Region | undefined },
    languages: Languages,
  ): number | undefined;
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
  readonly opening?: { readonly region?: Region | undefined };
}

/** Keeps the choice if the pair and the pools are the same. If no pool had nodes for the pair, it chooses again. */
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
  const { tenantId, sessionId, opening } = seeker;
  const poolId = pools.preferred({ tenantId, sessionId, region: opening?.region }, languages);
  return { pair, edition, poolId };
}

const pairOf = ({ directions }: Languages): string =>
  directions.map(({ source, target }) => `${source}>${target}`).join();
