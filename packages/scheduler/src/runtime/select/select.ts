/**
 * Hot path: which nodes to try for a need, best first. No clock, no I/O; chance comes in as an argument.
 *
 * Every `next` draws a fresh sample among those not tried yet, so it sees what the refusals before it have taught the
 * view, and as many tries as there are candidates see as many different nodes.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import { hasBit } from '../fleet/bits.ts';
import type { Columns } from '../fleet/columns.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { type CompiledNeed, matches } from './compile-need.ts';
import { POLICIES, type PolicyName, plainRandom } from './policies.ts';
import { bar, type PoolMembers, sample, startDraw } from './sample.ts';

export interface SelectOptions {
  readonly chance: Chance;
  readonly sampleK: number;
  readonly policy: PolicyName;
  /** Never these. */
  readonly excluded: ReadonlySet<NodeId>;
  /** These only when their pool has nobody else left. */
  readonly avoid?: ReadonlySet<NodeId>;
  /** The view is older than a job: its loads say nothing, so choose at random. */
  readonly isLoadStale?: boolean;
}

export interface Selection {
  /** The next node to try, never one given before; undefined when nobody is left. */
  next(): NodeId | undefined;
}

export function select(fleet: FleetView, compiled: CompiledNeed, options: SelectOptions): Selection {
  const { table } = fleet;
  const { preferredNodeId, poolIds } = compiled.need;
  const { chance, sampleK, excluded, avoid } = options;
  const policy = options.isLoadStale === true ? plainRandom : POLICIES[options.policy];
  const tried: NodeId[] = [];
  let poolAt = 0;
  let isPreferenceOpen = preferredNodeId !== undefined;

  function draw(pool: PoolMembers | undefined, avoided: ReadonlySet<NodeId> | undefined): NodeId | undefined {
    const { columns } = table;
    const fit = table.queries.words(compiled.query);
    startDraw(columns);
    for (const nodeId of tried) bar(columns, table.indexOf(nodeId));
    if (excluded.size > 0) for (const nodeId of excluded) bar(columns, table.indexOf(nodeId));
    if (avoided !== undefined) for (const nodeId of avoided) bar(columns, table.indexOf(nodeId));
    const count = sample(columns, fit, pool, sampleK, chance);
    if (count === 0) return undefined;
    return columns.ids[policy(columns, columns.picked, queueingLast(columns, count), chance)];
  }

  function drawFrom(pool: PoolMembers | undefined): NodeId | undefined {
    if (avoid === undefined || avoid.size === 0) return draw(pool, undefined);
    return draw(pool, avoid) ?? draw(pool, undefined);
  }

  function choose(): NodeId | undefined {
    if (isPreferenceOpen) {
      isPreferenceOpen = false;
      const preferred = preferredNodeId as NodeId;
      if (!excluded.has(preferred) && matches(compiled, preferred)) return preferred;
    }
    if (poolIds === undefined) return drawFrom(undefined);
    for (; poolAt < poolIds.length; poolAt++) {
      const poolId = poolIds[poolAt] as number;
      const roster = table.pool(poolId);
      if (roster === undefined) continue;
      const nodeId = drawFrom({ roster, words: table.facts.words(factKey.pool(poolId)) });
      if (nodeId !== undefined) return nodeId;
    }
    return undefined;
  }

  return {
    next() {
      const nodeId = choose();
      if (nodeId !== undefined) tried.push(nodeId);
      return nodeId;
    },
  };
}

/** Moves the nodes with a queue of their own behind the others; answers how many of the sample to choose from. */
function queueingLast({ picked, queueing }: Columns, count: number): number {
  let front = 0;
  for (let at = 0; at < count; at++) {
    const index = picked[at] as number;
    if (hasBit(queueing, index)) continue;
    picked[at] = picked[front] as number;
    picked[front++] = index;
  }
  return front === 0 ? count : front;
}
