/**
 * Hot path: whether a node would take new jobs if it had a free slot. Selection has the same rule as clauses (select/clauses.ts),
 * to name the part that failed.
 */
import { isAccepting, type NodeView } from '../../domain/node.ts';

export const isWilling = (view: NodeView): boolean =>
  isAccepting(view) && view.isFresh && view.isCalm && !view.isEjected;
