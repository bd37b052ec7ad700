/** Hot path: who would take new work if it had a free slot. Selection states the same rule as clauses (select/clauses.ts), to say which part failed. */
import { isAccepting, type NodeView } from '../../domain/node.ts';

export const isWilling = (view: NodeView): boolean =>
  isAccepting(view) && view.isFresh && view.isCalm && !view.isEjected;
