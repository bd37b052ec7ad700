/** Mutants that are detected with one instance without a store. */
import type { Mutant, World } from '../mutant.ts';

const SINGLE_INSTANCE: World = { scenario: { instances: 1 } };
/** No fault except nodes that acknowledge too late. */
const LATE_ACKS: World = { scenario: { instances: 1, badness: 0.06 }, faults: [] };
/** Jobs that take longer than the reservation of their slot. */
const LONG_JOBS: World = {
  scenario: { instances: 1, badness: 0, workMs: 4_000, perSecond: 12 },
  faults: [],
  jobs: 120,
};
/** Jobs that take longer than a gap stays open for them, on a fleet that is nearly full. */
const CANCELLED_JOBS: World = {
  scenario: { instances: 1, badness: 0, workMs: 16_000, perSecond: 8 },
  faults: [],
  jobs: 240,
};
/** More jobs than are allowed at a time. */
const OVERLOADED: World = {
  scenario: { instances: 1, badness: 0, inFlight: 30, perSecond: 150 },
  faults: [],
  jobs: 200,
};
const CALM: World = { scenario: { instances: 1, badness: 0 }, faults: [], jobs: 200 };

export const SINGLE_INSTANCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'reserves one slot more than a node has',
    breaks: ['I1 no oversell'],
    file: 'adapters/memory/capacity-ledger.ts',
    find: 'accounts.write(node, SLOTS, capacity.slots);',
    replace: 'accounts.write(node, SLOTS, capacity.slots + 1);',
    world: CALM,
  },
  {
    name: 'never drops leases that have ended',
    breaks: ['I2 no leak'],
    file: 'adapters/memory/capacity-ledger.ts',
    find: 'now >= accounts.read(node, EARLIEST_EXPIRY)',
    replace: 'now >= Number.MAX_VALUE',
    world: SINGLE_INSTANCE,
  },
  {
    name: 'does not release the slot of a finished job',
    breaks: ['I2 no leak'],
    file: 'runtime/attempts/settle-job.ts',
    find: 'const releaseLease = (): MaybePromise<void> => releaseForGood(engine, nodeId, leaseId(jobId, attempt));',
    replace: 'const releaseLease = (): MaybePromise<void> => void leaseId(jobId, attempt);',
    world: CALM,
  },
  {
    name: 'releases a slot while the node still runs the job',
    breaks: ['I1 no oversell'],
    file: 'runtime/attempts/retry-or-fail.ts',
    find: "if (side === 'over') await free(flight, fence);\n      else",
    replace: 'if (flight.job !== undefined) await free(flight, fence);\n      else',
    world: LATE_ACKS,
  },
  {
    name: 'accepts results of abandoned attempts',
    breaks: ['I4 fencing', 'I1 no oversell'],
    file: 'runtime/attempts/node-reports.ts',
    find: 'const isFence = holdsFence(flight.job, report.nodeId, report.attempt) && !isSettled(flight.job.state);',
    replace: 'const isFence = !isSettled(flight.job.state);',
    world: { ...LATE_ACKS, skips: 1 },
  },
  {
    name: 'ignores the attempt of a report',
    breaks: ['I4 fencing', 'I1 no oversell'],
    file: 'domain/job.ts',
    find: 'job.fence !== undefined && job.fence.nodeId === nodeId && job.fence.attempt === attempt;',
    replace: 'job.fence !== undefined && (job.fence.nodeId === nodeId || attempt > 0);',
    world: { ...LATE_ACKS, skips: 1 },
  },
  {
    name: 'reuses the attempt number for a retry',
    breaks: ['I3 one outcome'],
    file: 'runtime/dispatch/try-candidates.ts',
    find: 'const attempt = nextAttempt(flight);',
    replace: 'const attempt = Math.max(1, flight.attempts);',
    world: SINGLE_INSTANCE,
  },
  {
    name: 'forgets the job of a request',
    breaks: ['I3 one outcome'],
    file: 'adapters/memory/job-store.ts',
    find: 'requestId === undefined ? shelf.get(draft.jobId) : boundPlace(tenantId, requestId);',
    replace: 'shelf.get(draft.jobId);',
    world: SINGLE_INSTANCE,
  },
  {
    name: 'delivers results in the order of completion',
    breaks: ['I5 order'],
    file: 'session/outcomes/delivery.ts',
    find: 'const [head] = left;',
    replace: `left = [...left].sort((a, b) => Number(a.outcome === undefined) - Number(b.outcome === undefined));
    const [head] = left;`,
    world: CALM,
  },
  {
    name: 'never closes a gap',
    breaks: ['I5 order'],
    file: 'session/outcomes/delivery.ts',
    find: 'Math.min(closesAt, startedAt + settings.gapMaxMs);',
    replace: 'startedAt + 100 * settings.gapMaxMs;',
    world: LATE_ACKS,
  },
  {
    name: 'searches the pools of other tenants',
    breaks: ['I10 isolation'],
    file: 'runtime/pools/pool-map.ts',
    find: "? { poolIds: only(poolId), start: 0, count: 1, confinement: { kind: 'tenant_pool', poolId } }",
    replace: "? { poolIds: all, start: 0, count: all.length, confinement: { kind: 'tenant_pool', poolId } }",
    world: CALM,
  },
  {
    name: 'mixes up requests of two tenants',
    breaks: ['I10 isolation'],
    file: 'adapters/memory/job-store.ts',
    find: 'bindings.get(tenantId, requestId);',
    replace: "bindings.get('acme', requestId) ?? bindings.get('globex', requestId);",
    world: CALM,
  },
  {
    name: 'shows a job to every tenant that knows its id',
    breaks: ['I10 isolation'],
    file: 'transport/http/views/read-job.ts',
    find: "services.gate.tenantOf(principal, job.tenantId).kind !== 'tenant'",
    replace: 'services.gate === undefined',
    world: CALM,
  },
  {
    name: 'never commits a lease',
    breaks: ['I1 no oversell'],
    file: 'transport/link/node-link.ts',
    find: 'const committing = ledger.commit(nodeId, leaseId(job.jobId, attempt), settings.committedMs);',
    replace: "const committing = { kind: 'committed', used: 0, max: 1 } as CommitResult;",
    world: LONG_JOBS,
  },
  {
    name: 'releases the slot of a cancelled job at once',
    breaks: ['I1 no oversell'],
    file: 'runtime/create-job-service.ts',
    find: "settleJob.fail(flight, { code, message: reason }, 'open');",
    replace: "settleJob.fail(flight, { code, message: reason }, 'over');",
    world: CANCELLED_JOBS,
  },
  {
    name: 'drops every tenth result',
    breaks: ['I3 one outcome'],
    file: 'runtime/attempts/node-reports.ts',
    find: '    async finish(report, result) {\n',
    replace:
      "    async finish(report, result) {\n      engine.finished = (engine.finished ?? 0) + 1;\n      if (engine.finished % 10 === 0) return ignore('result', report, 'fenced');\n",
    world: CALM,
  },
  {
    name: 'drops a job without writing its outcome',
    breaks: ['nothing lost'],
    file: 'runtime/attempts/settle-job.ts',
    find: "const settling = settle(flight, 'released', step, { nodeId, attempt });",
    replace: 'const settling = true;',
    world: CALM,
  },
  {
    name: 'makes a dispatch wait for the next statistics',
    breaks: ['I6 hot path'],
    file: 'app/background-services.ts',
    find: '      : jobs.dispatch,',
    replace:
      '      : (request) => new Promise((counted) => clock.after(intervalMs, counted)).then(() => jobs.dispatch(request)),',
    world: CALM,
  },
  {
    name: 'admits more jobs than its limit',
    breaks: ['I11 bounded'],
    file: 'adapters/memory/job-store.ts',
    find: "if (shelf.liveCount() >= deps.maxInflight) return { kind: 'full' };",
    replace: '',
    world: OVERLOADED,
  },
];
