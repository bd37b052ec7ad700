/** Hot path: which pool a session prefers for a language pair. Kept until the pair changes; within the pool the node is random each time. Pure. */
import { DEFAULT_TENANT, type SessionId, type TenantId } from '../domain/ids.ts';
import type { Languages } from '../domain/needed-directions.ts';

/** What is known of pools; without any, the whole fleet is one. */
export interface Pools {
  /** Those that can serve the languages, in a stable order. */
  serving(languages: Languages): readonly number[];
  overrideOf(tenantId: TenantId): number | undefined;
  /** Whether a job may leave the preferred pool for another that can serve it. */
  readonly mayFallBack: boolean;
  readonly hashSeed: number;
}

export const NO_POOLS: Pools = {
  serving: () => [],
  overrideOf: () => undefined,
  mayFallBack: true,
  hashSeed: 0,
};

export interface PoolChoice {
  readonly pair: string;
  /** In the order to try; undefined = the whole fleet. */
  readonly poolIds: readonly number[] | undefined;
}

export interface PoolSeeker {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

/** The choice as it was, if the pair is the same. */
export function choosePool(
  before: PoolChoice | undefined,
  seeker: PoolSeeker,
  languages: Languages,
  pools: Pools,
): PoolChoice {
  const pair = pairOf(languages);
  if (before?.pair === pair) return before;
  const serving = pools.serving(languages);
  const preferred = pools.overrideOf(seeker.tenantId) ?? byHash(serving, routingKey(seeker), pools.hashSeed);
  if (preferred === undefined) return { pair, poolIds: undefined };
  const others = pools.mayFallBack ? serving.filter((id) => id !== preferred) : [];
  return { pair, poolIds: [preferred, ...others] };
}

const pairOf = ({ directions }: Languages): string =>
  directions.map(({ source, target }) => `${source}>${target}`).join();

/** Tenants stay together; sessions without one spread. */
const routingKey = ({ tenantId, sessionId }: PoolSeeker): string =>
  tenantId === DEFAULT_TENANT ? sessionId : tenantId;

function byHash(serving: readonly number[], key: string, seed: number): number | undefined {
  return serving[stableHash(`${seed}:${key}`) % serving.length];
}

/** FNV-1a: the same on every instance and in every version. */
export function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
