/** Hot path, once per session and language pair: the pool to begin with. Pure; the job itself decides where it may go. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { Languages } from '../../domain/needed-directions.ts';
import type { PoolId } from '../../domain/pool.ts';
import { stableChoice } from '../../domain/stable-hash.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { compileNeed } from '../select/compile-need.ts';
import { inOrder, routingKey } from './pool-book.ts';

/** The tenant's own, else always the same one of those that have nodes for the languages. Undefined: there are no pools, or none has. */
export function preferPool(
  fleet: FleetView,
  seeker: { readonly tenantId: TenantId; readonly sessionId: SessionId },
  languages: Languages,
): PoolId | undefined {
  const { pools: book } = fleet;
  if (book === undefined) return undefined;
  const need = needFor(seeker, languages);
  const route = book.route(need);
  const bound = book.plan.tenantPools.get(seeker.tenantId);
  if (bound !== undefined || route === undefined) return bound;
  const { facts, pools, queries } = fleet.table;
  const fit = queries.words(compileNeed(fleet, need).query);
  const serving = inOrder({ ...route, start: 0, count: route.poolIds.length }).filter((poolId) => {
    const members = facts.words(pools?.key(poolId) ?? '');
    return members.some((word, at) => (word & (fit[at] ?? 0)) !== 0);
  });
  return serving[stableChoice(routingKey(seeker), book.plan.hashSeed, serving.length)];
}

/** The languages alone, whatever a single utterance will ask for besides. */
const needFor = (
  { tenantId, sessionId }: { readonly tenantId: TenantId; readonly sessionId: SessionId },
  { directions, isSourceAuto, isPairUnknown }: Languages,
): Need => ({
  tenantId,
  sessionId,
  directions,
  isSourceAuto,
  isPairUnknown,
  usesAsr: true,
  usesNmt: true,
  usesTts: true,
  types: NOTHING,
  services: NOTHING,
  isAudioByReference: false,
  needsPublicNode: true,
  isStrict: false,
});

const NOTHING: readonly string[] = [];
