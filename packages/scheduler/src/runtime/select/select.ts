/**
 * Hot path: which nodes to try for a need, best first. No clock, no I/O; chance comes in as an argument.
 *
 * Every `next` draws a fresh sample among those not tried yet, so it sees what the refusals before it have taught the
 * view, and as many tries as there are candidates see as many different nodes.
 */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { PoolId } from '../../domain/pool.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Columns } from '../fleet/columns.ts';
import type { FleetTable, FleetView } from '../fleet/fleet-view.ts';
import type { PoolRoute } from '../pools/pool-map.ts';
import { type CompiledNeed, matches, routeOf } from './compile-need.ts';
import { POLICIES, type PolicyName, plainRandom } from './policies.ts';
import { bar, type PoolMembers, sample, startDraw } from './sample.ts';

export const NO_EXCLUSIONS: ReadonlySet<NodeId> = new Set();

export interface SelectOptions {
  readonly chance: Chance;
  readonly sampleK: number;
  readonly policy: PolicyName;
  /** Never these. */
  readonly excluded: ReadonlySet<NodeId>;
  /** These only when their pool has nobody else left. */
  readonly avoid?: ReadonlySet<NodeId> | undefined;
  /** The view is older than a job: its loads say nothing, so choose at random. */
  readonly isLoadStale?: boolean;
  /** Hears which pools were tried; absent: nobody asks, or there are no pools. */
  readonly pools?: PoolWatch | undefined;
}

/** What became of looking into pools. */
export interface PoolWatch {
  /** Nobody in this pool could take the job. */
  missed(compiled: CompiledNeed, poolId: PoolId): void;
  found(compiled: CompiledNeed, poolId: PoolId, isFallback: boolean): void;
  /** Nobody in any of them could. */
  exhausted(compiled: CompiledNeed): void;
}

export interface Selection {
  /** The next node to try, never one given before; undefined when nobody is left. */
  next(): NodeId | undefined;
}

export const NO_CANDIDATES: Selection = { next: () => undefined };

export function select(fleet: FleetView, compiled: CompiledNeed, options: SelectOptions): Selection {
  return new Drawing(fleet.table, compiled, options);
}

/** A class, because a selection is made for every job: functions that share its state would be made anew each time. */
class Drawing implements Selection {
  private readonly table: FleetTable;
  private readonly compiled: CompiledNeed;
  private readonly options: SelectOptions;
  /** Most selections end with the first they give: a list is only made for more. */
  private first: NodeId | undefined;
  private tried: readonly NodeId[] = NONE;
  private route: PoolRoute | undefined;
  private poolAt = 0;
  /** The pool at hand gave somebody. */
  private hasDrawn = false;
  /** What became of the choice of a pool was told. */
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

  /** Again, if the pools were divided anew since the last node: its place in the old order means nothing in the new. */
  private begin(route: PoolRoute): void {
    this.route = route;
    this.poolAt = 0;
    this.hasDrawn = false;
  }

  /** Told once per selection: later nodes are only tried because earlier ones refused. */
  private noteDrawn(poolId: number): void {
    this.hasDrawn = true;
    if (this.isNoted) return;
    this.isNoted = true;
    this.options.pools?.found(this.compiled, poolId, this.poolAt > 0);
  }

  private drawFrom(pool: PoolMembers | undefined): NodeId | undefined {
    const { avoid } = this.options;
    if (avoid === undefined || avoid.size === 0) return this.draw(pool, undefined);
    return this.draw(pool, avoid) ?? this.draw(pool, undefined);
  }

  private draw(pool: PoolMembers | undefined, avoided: ReadonlySet<NodeId> | undefined): NodeId | undefined {
    const { table, options } = this;
    const { columns } = table;
    const { chance, sampleK, excluded } = options;
    const fit = table.queries.words(this.compiled.query);
    startDraw(columns);
    if (this.first !== undefined) bar(columns, table.indexOf(this.first));
    if (this.tried !== NONE) for (const nodeId of this.tried) bar(columns, table.indexOf(nodeId));
    if (excluded.size > 0) for (const nodeId of excluded) bar(columns, table.indexOf(nodeId));
    if (avoided !== undefined) for (const nodeId of avoided) bar(columns, table.indexOf(nodeId));
    const count = sample(columns, fit, pool, sampleK, chance);
    if (count === 0) return undefined;
    const policy = options.isLoadStale === true ? plainRandom : POLICIES[options.policy];
    return table.nameOf(policy(columns, columns.picked, queueingLast(columns, count), chance));
  }
}

const NONE: readonly NodeId[] = [];

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
