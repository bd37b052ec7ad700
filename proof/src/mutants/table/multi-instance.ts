/** Mutants that are detected only with several instances on a shared store. */
import type { Mutant, World } from '../mutant.ts';

const DEATHS: World = { faults: ['instance_killed', 'instance_frozen'] };
const OUTAGES: World = { faults: ['store_down'], jobs: 150 };
/** Instances are cut off for long enough to be declared dead, from little more than the shard with their presence. */
const CUT_OFF: World = {
  faults: ['instance_cut_off'],
  scenario: { shards: 6, perSecond: 20 },
  jobs: 400,
};
/** Machines are suspended with all their clocks: an instance wakes, may have been declared dead, and its clocks show that no time passed. */
const SUSPENDED: World = {
  faults: ['instance_frozen'],
  scenario: { badness: 0.03, suspended: 1 },
  jobs: 600,
};
export const MULTI_INSTANCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sends messages to dead instances',
    breaks: ['I9 nothing to the dead'],
    file: 'cluster/messaging/message-bus.ts',
    find: "if (!isThere) return refused('not_living');",
    replace: '',
    world: { ...DEATHS, skips: 2 },
  },
  {
    name: 'hands over before the commit is answered',
    breaks: ['I1 no oversell'],
    file: 'transport/link/node-link.ts',
    find: 'return committing instanceof Promise',
    replace: `if (committing instanceof Promise) {
      committing.catch(() => undefined);
      return handCommitted(assignment, node, message, { kind: 'committed', used: 0, max: 1 });
    }
    return committing instanceof Promise`,
    world: { faults: ['shard_lossy'], scenario: { nodes: 4, workMs: 4_000 }, jobs: 300 },
  },
  {
    name: 'commits an abandoned lease',
    breaks: ['I1 no oversell', 'I4 fencing'],
    file: '../../simulation/src/store/capacity-ledger.ts',
    find: 'if (!isLate && shard.state.marks.get(nodeId, now)?.abandoned.has(lease))',
    replace: 'if (!isLate && until === Number.NaN)',
    world: { ...SUSPENDED, jobs: 1_500, skips: 5 },
  },
  {
    name: 'abandons an attempt without marking its lease',
    breaks: ['I1 no oversell', 'I4 fencing'],
    file: 'runtime/engine.ts',
    find: 'await engine.ledger.abandon(nodeId, lease, endsInMs);',
    replace: '',
    world: { ...SUSPENDED, jobs: 1_500, skips: 5 },
  },
  {
    name: 'answers an outage of the store with another error code',
    breaks: ['I7 fail closed'],
    file: 'runtime/dispatch/admit-job.ts',
    find: `void releaseUnused(engine, jobId, reserved, undefined);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', STORE_SILENT);`,
    replace: `void releaseUnused(engine, jobId, reserved, undefined);
      return refuse('RATE_LIMITED', STORE_SILENT);`,
    world: OUTAGES,
  },
  {
    name: 'continues after it may have been declared dead',
    breaks: ['I9 nothing to the dead'],
    file: 'cluster/membership/presence.ts',
    find: 'const isFenced = (): boolean => clock.now() - renewedAt > settings.ttlMs;',
    replace: 'const isFenced = (): boolean => clock.now() - renewedAt > Number.MAX_VALUE;',
    world: CUT_OFF,
  },
  {
    name: 'takes jobs over without its incarnation',
    breaks: ['I3 one outcome'],
    file: 'adapters/shared-jobs/takeover-store.ts',
    find: 'scripts.takeOver(jobId, from, driver);',
    replace: "scripts.takeOver(jobId, from, driver.replace(/[^/]*$/, ''));",
    world: { ...DEATHS, jobs: 1_500 },
  },
  {
    name: 'lets a former driver move a job',
    breaks: ['I3 one outcome'],
    file: '../../simulation/src/store/jobs/job-scripts.ts',
    find: "if (stored.driver !== driver) return { kind: 'driven_elsewhere' };\n  const { record } = stored;",
    replace: 'const { record } = stored;',
    world: { ...SUSPENDED, skips: 2 },
  },
];
