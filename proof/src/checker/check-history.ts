/** All rules over one history. Knows nothing of the scheduler but what nodes and clients saw. Pure. */
import type { Happening } from '../../../packages/scheduler/dist/simulation/history.js';
import { checkCapacity } from './capacity.ts';
import { checkFencing } from './fencing.ts';
import { checkInstances, type LogLine } from './instances.ts';
import { checkLeftovers, type Leftovers } from './leftovers.ts';
import { checkOrder } from './order.ts';
import { checkOutcomes } from './outcomes.ts';
import { checkStoreDown } from './store-down.ts';
import { ALLOWANCES, type Allowances, type Finding } from './violation.ts';

export interface Evidence {
  readonly history: readonly Happening[];
  readonly logs?: readonly LogLine[];
  /** Absent: there is no Redis. */
  readonly leftovers?: Leftovers | undefined;
}

export function checkHistory(
  { history, logs = [], leftovers }: Evidence,
  allowances: Allowances = ALLOWANCES,
): Finding {
  const findings = [
    checkOutcomes(history, allowances),
    checkCapacity(history, allowances),
    checkFencing(history, allowances),
    checkOrder(history),
    checkStoreDown(history, allowances),
    checkInstances(history, logs, allowances),
    ...(leftovers === undefined ? [] : [checkLeftovers(leftovers)]),
  ];
  return {
    violations: findings.flatMap(({ violations }) => violations).sort((one, other) => one.at - other.at),
    counts: Object.assign({}, ...findings.map(({ counts }) => counts)) as Finding['counts'],
  };
}
