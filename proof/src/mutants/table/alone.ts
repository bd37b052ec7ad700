/** Mutants that one instance without a store gives away. */
import type { Mutant, World } from '../mutant.ts';

const ALONE: World = { scenario: { instances: 1 } };
/** No fault but nodes that lose others' patience. */
const IMPATIENT: World = { scenario: { instances: 1, badness: 0.06 }, faults: [] };
const CALM: World = { scenario: { instances: 1, badness: 0 }, faults: [], jobs: 200 };

export const ALONE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sells one slot more than a node has',
    breaks: ['I1 no oversell'],
    file: 'adapters/memory/capacity-ledger.ts',
    find: 'entry.slots = capacity.slots;',
    replace: 'entry.slots = capacity.slots + 1;',
    world: CALM,
  },
  {
    name: 'never drops leases that have ended',
    breaks: ['I2 no leak'],
    file: 'adapters/memory/capacity-ledger.ts',
    find: 'if (now < entry.earliestExpiry) return;',
    replace: 'if (now < Number.MAX_VALUE) return;',
    world: ALONE,
  },
  {
    name: 'forgets to give back the slot of a finished job',
    breaks: ['I2 no leak'],
    file: 'runtime/settling.ts',
    find: 'const giveBack = (): Soon<void> => giveBackForGood(engine, nodeId, leaseId(jobId, attempt));',
    replace: 'const giveBack = (): Soon<void> => void leaseId(jobId, attempt);',
    world: CALM,
  },
  {
    name: 'gives a slot back before the node has let go of it',
    breaks: ['I1 no oversell'],
    file: 'runtime/giving-up.ts',
    find: "if (side === 'over') {\n        noteGivenBack(",
    replace: 'if (flight.job !== undefined) {\n        noteGivenBack(',
    world: IMPATIENT,
  },
  {
    name: 'hears results of attempts that were given up',
    breaks: ['I4 fencing', 'I1 no oversell'],
    file: 'runtime/answers.ts',
    find: 'const isFence = holdsFence(flight.job, answer.nodeId, answer.attempt) && !isSettled(flight.job.state);',
    replace: 'const isFence = !isSettled(flight.job.state);',
    world: { ...IMPATIENT, skips: 1 },
  },
  {
    name: 'does not compare the attempt of an answer',
    breaks: ['I4 fencing', 'I1 no oversell'],
    file: 'domain/job.ts',
    find: 'job.fence !== undefined && job.fence.nodeId === nodeId && job.fence.attempt === attempt;',
    replace: 'job.fence !== undefined && (job.fence.nodeId === nodeId || attempt > 0);',
    world: { ...IMPATIENT, skips: 1 },
  },
  {
    name: 'numbers no new attempt when it retries',
    breaks: ['I3 one outcome'],
    file: 'runtime/placement.ts',
    find: 'const attempt = flight.attempts + 1;',
    replace: 'const attempt = Math.max(1, flight.attempts);',
    world: ALONE,
  },
  {
    name: 'does not remember which job a request has',
    breaks: ['I3 one outcome'],
    file: 'adapters/memory/job-store.ts',
    find: 'requestId === undefined ? shelf.get(draft.jobId) : boundPlace(tenantId, requestId);',
    replace: 'shelf.get(draft.jobId);',
    world: ALONE,
  },
  {
    name: 'delivers whatever is ready first',
    breaks: ['I5 order'],
    file: 'session/delivery.ts',
    find: 'const [head] = delivery.waiting;',
    replace: `delivery.waiting.sort((a, b) => Number(a.outcome === undefined) - Number(b.outcome === undefined));
    const [head] = delivery.waiting;`,
    world: CALM,
  },
  {
    name: 'never closes a gap',
    breaks: ['I5 order'],
    file: 'session/delivery.ts',
    find: 'readyAt)) + settings.gapTimeoutMs;',
    replace: 'readyAt)) + 100 * settings.gapTimeoutMs;',
    world: IMPATIENT,
  },
  {
    name: 'looks into the pools of other tenants',
    breaks: ['I10 isolation'],
    file: 'runtime/pools/pool-book.ts',
    find: "? { poolIds: only(poolId), start: 0, count: 1, confinement: { kind: 'tenant_pool', poolId } }",
    replace: "? { poolIds: all, start: 0, count: all.length, confinement: { kind: 'tenant_pool', poolId } }",
    world: CALM,
  },
];
