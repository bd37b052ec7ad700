/** Mutants of hedges: second attempts beside overdue ones. */
import type { Mutant, World } from '../mutant.ts';

/** Many jobs take much longer than usual, and other nodes are free. */
const HEDGED: World = { faults: [], scenario: { hedgePercent: 20, perSecond: 20, badness: 0 }, jobs: 400 };

export const HEDGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sends hedges beyond the budget',
    breaks: ['I11 bounded'],
    file: 'runtime/attempts/hedging.ts',
    find: "if (!budget.take()) return 'budget';",
    replace: '',
    world: { ...HEDGED, scenario: { ...HEDGED.scenario, hedgePercent: 1 } },
  },
  {
    name: 'does not cancel the attempt whose hedge was faster',
    breaks: ['I4 fencing'],
    file: 'runtime/attempts/settle-job.ts',
    find: "engine.link.cancel(overdue.nodeId, jobId, 'superseded');",
    replace: '',
    world: HEDGED,
  },
  {
    name: 'does not cancel a hedge that was slower',
    breaks: ['I4 fencing'],
    file: 'runtime/attempts/settle-job.ts',
    find: 'if (fence === undefined || !isFirstSend(flight)) cancelUnconfirmed(engine, flight, fence);',
    replace: '',
    world: HEDGED,
  },
  {
    name: 'gives a hedge the number of the first attempt',
    breaks: ['I3 one outcome', 'I4 fencing'],
    file: 'runtime/attempts/hedging.ts',
    find: 'attempt: nextAttempt(flight)',
    replace: 'attempt: flight.attempts',
    world: HEDGED,
  },
];
