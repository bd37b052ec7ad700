/** Failure path: why no node is left for a need, from the bitmaps of selection. */

import { countOnes, lowestOne, putBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import { REJECTIONS, type Rejection, type RejectionCount, stageOf } from '../../domain/need.ts';
import type { Columns } from '../fleet/columns.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { all, type Clause, holds } from '../fleet/formula.ts';
import { inOrder as poolsInOrder } from '../pools/pool-map.ts';
import { poolClause, STATUS_CLAUSES } from './clauses.ts';
import { type CompiledNeed, routeOf } from './compile-need.ts';

const SAMPLES = 5;

export interface Explanation {
  /** All nodes: the sum of the counts of all reasons and `eligible`. */
  readonly total: number;
  /** Nodes without a reason against them. */
  readonly eligible: number;
  /** In the order of REJECTIONS; each node counts once, under its first reason. */
  readonly reasons: readonly RejectionCount[];
  /**
   * If no node is left: the reason that excluded most of the nodes that had passed every stage before. Undefined: a node is left, or none
   * is registered.
   */
  readonly cause: RejectionCount | undefined;
}

export function explain(
  fleet: FleetView,
  compiled: CompiledNeed,
  excluded: ReadonlySet<NodeId>,
): Explanation {
  const { columns, facts, narrow, queries, indexOf } = fleet.table;
  const left = new Uint32Array(columns.usable.length);
  const pass = new Uint32Array(columns.usable.length);
  const reasons: RejectionCount[] = [];
  let eligible = fleet.size;
  facts.or('alive', left);
  // If every node is able, as in a fleet of equal nodes, only their state has to be checked.
  const areAllFit = isSame(queries.words(compiled.query), left);
  for (const { reason, formula } of inOrder(compiled, areAllFit ? [] : compiled.query.clauses)) {
    if (eligible === 0) break;
    pass.set(left);
    narrow(formula, pass);
    if (reason === 'excluded') {
      for (const nodeId of excluded) if (fleet.has(nodeId)) putBit(pass, indexOf(nodeId), false);
    }
    const { count, sampleNodeIds } = sift(left, pass, columns.ids);
    if (count > 0) reasons.push({ reason, count, sampleNodeIds });
    eligible -= count;
  }
  return { total: fleet.size, eligible, reasons, cause: eligible === 0 ? causeOf(reasons) : undefined };
}

/** Of the last stage with rejections. Pure. */
function causeOf(reasons: readonly RejectionCount[]): RejectionCount | undefined {
  const last = reasons.at(-1);
  const stage = last && stageOf(last.reason);
  // These are in the order of processing: the nodes with the last reason lack the least.
  if (last === undefined || stage === 'can') return last;
  return reasons
    .filter(({ reason }) => stageOf(reason) === stage)
    .reduce((most, each) => (each.count >= most.count ? each : most));
}

/** All reasons against one named node. Undefined: it is not registered. */
export function failures(fleet: FleetView, compiled: CompiledNeed, nodeId: NodeId): Rejection[] | undefined {
  const { facts, indexOf } = fleet.table;
  const index = indexOf(nodeId);
  if (index === -1) return undefined;
  return inOrder(compiled, compiled.query.clauses)
    .filter(({ formula }) => !holds(facts, formula, index))
    .map(({ reason }) => reason);
}

/** Exclusions are not facts of the fleet: `explain` adds them itself. */
const EXCLUDED: Clause = { reason: 'excluded', formula: all() };

const ORDER: ReadonlyMap<Rejection, number> = new Map(REJECTIONS.map((reason, at) => [reason, at]));
const orderOf = ({ reason }: Clause): number => ORDER.get(reason) ?? REJECTIONS.length;

/** The keys of the pools that the job may use; undefined: every node. */
export function poolKeys(compiled: CompiledNeed): readonly string[] | undefined {
  const route = routeOf(compiled);
  const { pools } = compiled.fleet.table;
  return route && pools && poolsInOrder(route).map(pools.key);
}

function inOrder(compiled: CompiledNeed, abilities: readonly Clause[]): Clause[] {
  const keys = poolKeys(compiled);
  const pools = keys === undefined ? [] : [poolClause(keys)];
  return [...abilities, ...pools, ...STATUS_CLAUSES, EXCLUDED].sort((a, b) => orderOf(a) - orderOf(b));
}

function isSame(a: Uint32Array, b: Uint32Array): boolean {
  for (let word = 0; word < a.length; word++) if (a[word] !== b[word]) return false;
  return true;
}

/** Reduces `left` to `pass`, its subset, and returns the number and some samples of the removed nodes. */
function sift(
  left: Uint32Array,
  pass: Uint32Array,
  ids: Columns['ids'],
): { count: number; sampleNodeIds: NodeId[] } {
  const sampleNodeIds: NodeId[] = [];
  let count = 0;
  for (let word = 0; word < left.length; word++) {
    let failing = (left[word] as number) ^ (pass[word] as number);
    if (failing === 0) continue;
    left[word] = pass[word] as number;
    count += countOnes(failing);
    for (; failing !== 0 && sampleNodeIds.length < SAMPLES; failing &= failing - 1) {
      sampleNodeIds.push(ids[(word << 5) + lowestOne(failing)] as NodeId);
    }
  }
  return { count, sampleNodeIds };
}
