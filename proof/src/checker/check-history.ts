/** All rules over one history. They know only what nodes and clients saw. Pure. */
import type { HistoryEvent } from '../../../packages/simulation/dist/history.js';
import { checkBounds } from './bounded.ts';
import { checkCapacity } from './capacity.ts';
import { gatherFacts } from './facts.ts';
import { checkFencing } from './fencing.ts';
import { checkGaps } from './gaps.ts';
import { checkHedges } from './hedges.ts';
import { checkHotPath } from './hot-path.ts';
import { checkInstances, type InsideView } from './instances.ts';
import { checkIsolation } from './isolation.ts';
import { checkLeftovers, type Leftovers } from './leftovers.ts';
import { checkOrder } from './order.ts';
import { checkOutcomes } from './outcomes.ts';
import { checkPaths } from './paths.ts';
import { checkProbe } from './probe.ts';
import { checkResults } from './results.ts';
import { checkRooms } from './rooms/check-rooms.ts';
import { checkStages } from './stages.ts';
import { checkStoreDown } from './store-down.ts';
import { ALLOWANCES, type Allowances, type Finding, INVARIANTS, type Invariant } from './violation.ts';

export interface Evidence extends InsideView {
  readonly history: readonly HistoryEvent[];
  /** Absent: there is no Redis. */
  readonly leftovers?: Leftovers | undefined;
}

export function checkHistory(
  { history, leftovers, ...inside }: Evidence,
  allowances: Allowances = ALLOWANCES,
): Required<Finding> {
  const facts = gatherFacts(history);
  const findings: Finding[] = [
    checkOutcomes(facts, allowances),
    checkResults(facts, allowances),
    checkCapacity(facts, allowances),
    checkProbe(facts, allowances),
    checkFencing(facts, allowances),
    checkHedges(facts, allowances),
    checkOrder(facts, allowances),
    checkGaps(facts, allowances),
    checkStages(facts, allowances),
    checkPaths(facts),
    ...checkRooms(facts, allowances),
    checkHotPath(facts, allowances),
    checkStoreDown(facts, allowances),
    checkInstances(facts, inside, allowances),
    checkIsolation(facts),
    checkBounds(history),
    ...(leftovers === undefined ? [] : [checkLeftovers(leftovers)]),
  ];
  return {
    violations: findings.flatMap(({ violations }) => violations).sort((one, other) => one.at - other.at),
    counts: Object.assign({}, ...findings.map(({ counts }) => counts)) as Finding['counts'],
    judged: Object.fromEntries(
      INVARIANTS.map((invariant) => [invariant, sum(findings, invariant)]),
    ) as Record<Invariant, number>,
  };
}

const sum = (findings: readonly Finding[], invariant: Invariant): number =>
  findings.reduce((total, { judged }) => total + (judged?.[invariant] ?? 0), 0);
