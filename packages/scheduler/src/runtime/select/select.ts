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
import type { FleetTable, FleetView } from '../fleet/fleet-view.ts';
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
  return new Drawing(fleet.table, compiled, options);
}

/** A class, because a selection is made for every job: functions that share its state would be made anew each time. */
class Drawing implements Selection {
  private readonly table: FleetTable;
  private readonly compiled: CompiledNeed;
  private readonly options: SelectOptions;
  private tried: readonly NodeId[] = NOBODY;
  private poolAt = 0;
  private isPreferenceOpen: boolean;

  constructor(table: FleetTable, compiled: CompiledNeed, options: SelectOptions) {
    this.table = table;
    this.compiled = compiled;
    this.options = options;
    this.isPreferenceOpen = compiled.need.preferredNodeId !== undefined;
  }

  next(): NodeId | undefined {
    const nodeId = this.choose();
    if (nodeId !== undefined) this.tried = this.tried === NOBODY ? [nodeId] : [...this.tried, nodeId];
    return nodeId;
  }

  private choose(): NodeId | undefined {
    const { table, compiled } = this;
    const { preferredNodeId, poolIds } = compiled.need;
    if (this.isPreferenceOpen) {
      this.isPreferenceOpen = false;
      const preferred = preferredNodeId as NodeId;
      if (!this.options.excluded.has(preferred) && matches(compiled, preferred)) return preferred;
    }
    if (poolIds === undefined) return this.drawFrom(undefined);
    for (; this.poolAt < poolIds.length; this.poolAt++) {
      const poolId = poolIds[this.poolAt] as number;
      const roster = table.pool(poolId);
      if (roster === undefined) continue;
      const nodeId = this.drawFrom({ roster, words: table.facts.words(factKey.pool(poolId)) });
      if (nodeId !== undefined) return nodeId;
    }
    return undefined;
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
    for (const nodeId of this.tried) bar(columns, table.indexOf(nodeId));
    if (excluded.size > 0) for (const nodeId of excluded) bar(columns, table.indexOf(nodeId));
    if (avoided !== undefined) for (const nodeId of avoided) bar(columns, table.indexOf(nodeId));
    const count = sample(columns, fit, pool, sampleK, chance);
    if (count === 0) return undefined;
    const policy = options.isLoadStale === true ? plainRandom : POLICIES[options.policy];
    return columns.ids[policy(columns, columns.picked, queueingLast(columns, count), chance)];
  }
}

const NOBODY: readonly NodeId[] = [];

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
