/** Failure path: nodes that could take the job if they were not marked for a missing model. */

import { countOnes, lowestOne, putBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { any } from '../fleet/formula.ts';
import { clausesOf, markKeys, poolClause } from './clauses.ts';
import { type CompiledNeed, residencyOf } from './compile-need.ts';
import { poolKeys } from './explain.ts';

export interface MarkedOut {
  /** Free and able nodes that only marks exclude. */
  readonly count: number;
  /** Some of the missing models. */
  readonly services: readonly string[];
}

const SAMPLES = 5;

/** Undefined, at almost no cost, unless marks are the reason that no node is left. */
export function markedOut(
  fleet: FleetView,
  compiled: CompiledNeed,
  excluded: ReadonlySet<NodeId>,
): MarkedOut | undefined {
  const { columns, facts, narrow, indexOf } = fleet.table;
  const marks = markKeys(compiled.need).filter(facts.isKnown);
  if (marks.length === 0) return undefined;
  const left = columns.usable.slice();
  narrow(any(...marks), left);
  const pools = poolKeys(compiled);
  if (pools !== undefined) narrow(poolClause(pools).formula, left);
  for (const { formula } of clausesOf(compiled.need, residencyOf(compiled.fleet, compiled.need), {
    checksMarks: false,
  }))
    narrow(formula, left);
  for (const nodeId of excluded) if (fleet.has(nodeId)) putBit(left, indexOf(nodeId), false);
  const count = left.reduce((sum, word) => sum + countOnes(word), 0);
  return count === 0 ? undefined : { count, services: servicesOf(fleet, left) };
}

/** Text for refusals. */
export function describeMarkedOut({ count, services }: MarkedOut): string {
  const who = count === 1 ? '1 node that could take it is' : `${count} nodes that could take it are`;
  return `${who} left out for having reported a missing model: ${services.join(', ')}`;
}

function servicesOf(fleet: FleetView, words: Uint32Array): string[] {
  const { ids } = fleet.table.columns;
  const services = new Set<string>();
  let seen = 0;
  for (let word = 0; word < words.length && seen < SAMPLES; word++) {
    for (let bits = words[word] as number; bits !== 0 && seen < SAMPLES; bits &= bits - 1) {
      seen += 1;
      const view = fleet.view(ids[(word << 5) + lowestOne(bits)] as NodeId);
      for (const serviceId of view?.markedServices ?? []) services.add(serviceId);
    }
  }
  return [...services].slice(0, SAMPLES);
}
