/** Mutants that only several instances on a shared store give away. */
import type { Mutant, World } from '../mutant.ts';

const DEATHS: World = { faults: ['instance_killed', 'instance_frozen'] };
const OUTAGES: World = { faults: ['store_down'], jobs: 150 };
export const TOGETHER_MUTANTS: readonly Mutant[] = [
  {
    name: 'writes to instances that are not there',
    breaks: ['I9 nothing to the dead'],
    file: 'cluster/post-office.ts',
    find: "if (!isThere) return refused('not_living');",
    replace: '',
    world: { ...DEATHS, skips: 2 },
  },
  {
    name: 'takes a reserve that did not answer for a slot',
    breaks: ['I1 no oversell'],
    file: 'runtime/placement.ts',
    find: 'if (!isUnsent(fault)) void giveBack(engine, nodeId, lease);\n        return false;',
    replace: 'return true;',
    world: { faults: ['shard_lossy'], skips: 2 },
  },
  {
    name: 'says something else than that the store is away',
    breaks: ['I7 fail closed'],
    file: 'runtime/admission.ts',
    find: `void giveBackUnused(engine, jobId, reserved, undefined);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);`,
    replace: `void giveBackUnused(engine, jobId, reserved, undefined);
      return refuse('RATE_LIMITED', STORE_SILENT);`,
    world: OUTAGES,
  },
];
