/**
 * Hot path: which nodes to try for a need, best first. No clock, no I/O; randomness is an argument.
 *
 * Every `next` draws a new sample among the nodes not tried yet, so it uses the loads that earlier refusals have corrected, and no
 * node is returned twice.
 */

import { hasBit, lowestOne } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { PoolId } from '../../domain/pool.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Columns } from '../fleet/columns.ts';
import type { FleetTable, FleetView } from '../fleet/fleet-view.ts';
import type { Ring } from '../fleet/rings.ts';
import type { PoolRoute } from '../pools/pool-map.ts';
import { type CompiledNeed, matches, routeOf, updateQuery } from './compile-need.ts';
import { expectedMs, type Foresight, fastest, POLICIES, type PolicyName, plainRandom } from './policies.ts';
import { bar, type PoolMembers, sample, startDraw } from './sample.ts';

export const NO_EXCLUSIONS: ReadonlySet<NodeId> = new Set();

export interface SelectOptions {
  readonly chance: Chance;
  readonly sampleK: number;
  readonly policy: PolicyName;
  /** Never selected. */
  readonly excluded: ReadonlySet<NodeId>;
  /** Selected only when their pool has no other node left. */
  readonly avoid?: ReadonlySet<NodeId> | undefined;
  /** The fact of the zone in which the last attempt failed: selected like `avoid`. */
  readonly avoidedZone?: string | undefined;
  /** The view is older than a job: its loads are meaningless, so choose at random. */
  readonly isLoadStale?: boolean;
  /** For the policy `fastest`. */
  readonly foresee?: ((kindOfWork: string) => Foresight) | undefined;
  /** Gets the results of pool lookups; absent: not counted, or there are no pools. */
  readonly pools?: PoolWatch | undefined;
}

/** The results of pool lookups. */
export interface PoolWatch {
  /** No node of this pool could take the job. */
  missed(compiled: CompiledNeed, poolId: PoolId): void;
  found(compiled: CompiledNeed, poolId: PoolId, isFallback: boolean): void;
  /** No node of any pool could. */
  exhausted(compiled: CompiledNeed): void;
}

export interface Selection {
  /** The next node to try, never the same twice; undefined when none is left. */
  next(): NodeId | undefined;
}

export const NO_CANDIDATES: Selection = { next: () => undefined };

export function select(fleet: FleetView, compiled: CompiledNeed, options: SelectOptions): Selection {
  return new Drawing(fleet.table, compiled, options);
}

/** A class, because every job creates a selection: closures would be allocated each time. */
class Drawing implements Selection {
  private readonly table: FleetTable;
  private readonly compiled: CompiledNeed;
  private readonly options: SelectOptions;
  /** Most selections end with their first node: a list is created only for more. */
  private first: NodeId | undefined;
  private tried: readonly NodeId[] = NONE;
  private route: PoolRoute | undefined;
  private poolAt = 0;
  /** The current pool had a candidate. */
  private hasDrawn = false;
  /** The result of the pool choice was reported. */
  private isNoted = false;
  private isPreferenceOpen: boolean;

  constructor(table: FleetTable, compiled: CompiledNeed, options: SelectOptions) {
    this.table = table;
    this.compiled = compiled;
    this.options = options;
    this.isPreferenceOpen = compiled.need.preferredNodeId !== undefined;
  }

  next(): NodeId | undefined {
    const nodeId = this.choose();
    if (this.first === undefined) this.first = nodeId;
    else if (nodeId !== undefined) this.tried = [...this.tried, nodeId];
    return nodeId;
  }

  private choose(): NodeId | undefined {
    const { table, compiled } = this;
    const { preferredNodeId } = compiled.need;
    updateQuery(compiled);
    const route = routeOf(compiled);
    if (this.isPreferenceOpen) {
      this.isPreferenceOpen = false;
      const preferred = preferredNodeId as NodeId;
      if (!this.options.excluded.has(preferred) && matches(compiled, preferred)) return preferred;
    }
    const { pools } = table;
    if (route === undefined || pools === undefined) return this.drawFrom(undefined);
    if (route !== this.route) this.begin(route);
    const { poolIds, start, count } = route;
    for (; this.poolAt < count; this.poolAt++) {
      const poolId = poolIds[(start + this.poolAt) % poolIds.length] as number;
      const roster = pools.roster(poolId);
      const nodeId = roster && this.drawFrom({ roster, words: table.facts.words(pools.key(poolId)) });
      if (nodeId !== undefined) {
        this.noteDrawn(poolId);
        return nodeId;
      }
      if (!this.hasDrawn) this.options.pools?.missed(compiled, poolId);
      this.hasDrawn = false;
    }
    if (!this.isNoted) this.options.pools?.exhausted(compiled);
    this.isNoted = true;
    return undefined;
  }

  /** Starts again if the pools changed since the last node: a position in the old order has no meaning in the new one. */
  private begin(route: PoolRoute): void {
    this.route = route;
    this.poolAt = 0;
    this.hasDrawn = false;
  }

  /** Reported once per selection: later nodes are tried only because earlier ones refused. */
  private noteDrawn(poolId: number): void {
    this.hasDrawn = true;
    if (this.isNoted) return;
    this.isNoted = true;
    this.options.pools?.found(this.compiled, poolId, this.poolAt > 0);
  }

  private drawFrom(pool: PoolMembers | undefined): NodeId | undefined {
    const { table, compiled } = this;
    const rings = table.rings?.(compiled.query, compiled.need.region);
    const index =
      rings === undefined ? this.draw(table.queries.words(compiled.query), pool) : this.drawNear(rings, pool);
    return index === NOBODY ? undefined : table.nameOf(index);
  }

  /** A node of the nearest ring that has one; with `fastest` a node of a farther ring if it finishes sooner all the same. */
  private drawNear(rings: readonly Ring[], pool: PoolMembers | undefined): number {
    const foresight = this.foresight();
    let best = NOBODY;
    let least = 0;
    for (const { query, roundTripMs } of rings) {
      if (best !== NOBODY && roundTripMs >= least) break;
      const index = this.draw(this.table.queries.words(query), pool);
      const ms = index === NOBODY ? undefined : foresight && expectedMs(this.table.columns, index, foresight);
      if (index !== NOBODY && ms === undefined) return best === NOBODY ? index : best;
      if (ms === undefined || (best !== NOBODY && ms + roundTripMs >= least)) continue;
      best = index;
      least = ms + roundTripMs;
    }
    return best;
  }

  private draw(fit: Uint32Array, pool: PoolMembers | undefined): number {
    const { avoid, avoidedZone } = this.options;
    const avoids = (avoid !== undefined && avoid.size > 0) || avoidedZone !== undefined;
    const count = (avoids && this.sampled(fit, pool, true)) || this.sampled(fit, pool, false);
    const { columns } = this.table;
    return count === 0 ? NOBODY : this.preferred(columns, queueingLast(columns, count));
  }

  /** The number of nodes in the sample. */
  private sampled(fit: Uint32Array, pool: PoolMembers | undefined, avoids: boolean): number {
    const { table, options } = this;
    const { columns } = table;
    const { chance, sampleK, excluded, avoid, avoidedZone } = options;
    startDraw(columns);
    if (this.first !== undefined) bar(columns, table.indexOf(this.first));
    if (this.tried !== NONE) for (const nodeId of this.tried) bar(columns, table.indexOf(nodeId));
    if (excluded.size > 0) for (const nodeId of excluded) bar(columns, table.indexOf(nodeId));
    if (avoids && avoid !== undefined) for (const nodeId of avoid) bar(columns, table.indexOf(nodeId));
    if (avoids && avoidedZone !== undefined) barUsable(columns, table.facts.words(avoidedZone));
    return sample(columns, fit, pool, sampleK, chance);
  }

  /** One of the first `count` nodes of the sample, by the policy. */
  private preferred(columns: Columns, count: number): number {
    const { chance, policy, isLoadStale } = this.options;
    const { picked } = columns;
    if (isLoadStale === true) return plainRandom(columns, picked, count, chance);
    if (policy !== 'fastest') return POLICIES[policy](columns, picked, count, chance);
    return fastest(columns, picked, count, chance, this.foresight() ?? BLIND);
  }

  /** Undefined: the policy does not use it. */
  private foresight(): Foresight | undefined {
    const { policy, foresee, isLoadStale } = this.options;
    if (policy !== 'fastest' || isLoadStale === true) return undefined;
    return foresee?.(this.compiled.query.key);
  }
}

/** Not the number of a node. */
const NOBODY = -1;

/** The others of the zone cannot be drawn anyway. */
function barUsable(columns: Columns, words: Uint32Array): void {
  const { usable } = columns;
  for (let word = Math.min(words.length, usable.length) - 1; word >= 0; word--) {
    for (let rest = (words[word] as number) & (usable[word] as number); rest !== 0; rest &= rest - 1)
      bar(columns, word * 32 + lowestOne(rest));
  }
}

const BLIND: Foresight = { kind: undefined, now: 0, hasPeers: false };
const NONE: readonly NodeId[] = [];

/** Moves the nodes with their own queue behind the others; returns how many of the sample to choose from. */
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
