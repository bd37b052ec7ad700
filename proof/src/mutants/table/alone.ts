/** Mutants that are detected with one instance without a store. */
import type { Mutant, World } from '../mutant.ts';

const ALONE: World = { scenario: { instances: 1 } };
/** No fault but nodes that acknowledge too late. */
const IMPATIENT: World = { scenario: { instances: 1, badness: 0.06 }, faults: [] };
/** Jobs that last longer than a slot is reserved for them. */
const LASTING: World = {
  scenario: { instances: 1, badness: 0, workMs: 4_000, perSecond: 12 },
  faults: [],
  jobs: 120,
};
/** More than is allowed at a time. */
const CROWDED: World = {
  scenario: { instances: 1, badness: 0, inFlight: 30, perSecond: 150 },
  faults: [],
  jobs: 200,
};
const CALM: World = { scenario: { instances: 1, badness: 0 }, faults: [], jobs: 200 };

export const ALONE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sells one slot more than a node has',
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
    world: ALONE,
  },
  {
    name: 'forgets to give back the slot of a finished job',
    breaks: ['I2 no leak'],
    file: 'runtime/attempts/settle-job.ts',
    find: 'const releaseLease = (): MaybePromise<void> => releaseForGood(engine, nodeId, leaseId(jobId, attempt));',
    replace: 'const releaseLease = (): MaybePromise<void> => void leaseId(jobId, attempt);',
    world: CALM,
  },
  {
    name: 'gives a slot back before the node has let go of it',
    breaks: ['I1 no oversell'],
    file: 'runtime/attempts/retry-or-fail.ts',
    find: "if (side === 'over') await free(flight, fence);\n      else",
    replace: 'if (flight.job !== undefined) await free(flight, fence);\n      else',
    world: IMPATIENT,
  },
  {
    name: 'hears results of attempts that were given up',
    breaks: ['I4 fencing', 'I1 no oversell'],
    file: 'runtime/attempts/node-reports.ts',
    find: 'const isFence = holdsFence(flight.job, report.nodeId, report.attempt) && !isSettled(flight.job.state);',
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
    file: 'runtime/dispatch/try-candidates.ts',
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
    file: 'session/outcomes/delivery.ts',
    find: 'const [head] = delivery.waiting;',
    replace: `delivery.waiting.sort((a, b) => Number(a.outcome === undefined) - Number(b.outcome === undefined));
    const [head] = delivery.waiting;`,
    world: CALM,
  },
  {
    name: 'never closes a gap',
    breaks: ['I5 order'],
    file: 'session/outcomes/delivery.ts',
    find: 'readyAt)) + settings.gapTimeoutMs;',
    replace: 'readyAt)) + 100 * settings.gapTimeoutMs;',
    world: IMPATIENT,
  },
  {
    name: 'looks into the pools of other tenants',
    breaks: ['I10 isolation'],
    file: 'runtime/pools/pool-map.ts',
    find: "? { poolIds: only(poolId), start: 0, count: 1, confinement: { kind: 'tenant_pool', poolId } }",
    replace: "? { poolIds: all, start: 0, count: all.length, confinement: { kind: 'tenant_pool', poolId } }",
    world: CALM,
  },
  {
    name: 'takes the request of another tenant for its own',
    breaks: ['I10 isolation'],
    file: 'adapters/memory/job-store.ts',
    find: 'bindings.get(tenantId, requestId);',
    replace: "bindings.get('acme', requestId) ?? bindings.get('globex', requestId);",
    world: CALM,
  },
  {
    name: 'shows a job to whoever knows its name',
    breaks: ['I10 isolation'],
    file: 'transport/http/views/read-job.ts',
    find: "services.gate.tenantOf(principal, job.tenantId).kind === 'tenant'",
    replace: 'services.gate !== undefined',
    world: CALM,
  },
  {
    name: 'never commits a lease',
    breaks: ['I1 no oversell'],
    file: 'transport/link/node-link.ts',
    find: 'const committing = ledger.commit(nodeId, leaseId(job.jobId, attempt), settings.committedMs);',
    replace: "const committing = { kind: 'committed', used: 0, max: 1 } as CommitResult;",
    world: LASTING,
  },
  {
    name: 'gives the slot of a cancelled job back at once',
    breaks: ['I1 no oversell'],
    file: 'runtime/create-job-service.ts',
    find: "settleJob.fail(flight, { code, message: reason }, 'open');",
    replace: "settleJob.fail(flight, { code, message: reason }, 'over');",
    world: LASTING,
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
    name: 'forgets a job without writing its outcome',
    breaks: ['nothing lost'],
    file: 'runtime/attempts/settle-job.ts',
    find: "const settling = settle(flight, 'released', step, { nodeId, attempt });",
    replace: 'const settling = true;',
    world: CALM,
  },
  {
    name: 'lets a dispatch wait for the next statistics',
    breaks: ['I6 hot path'],
    file: 'app/background-services.ts',
    find: ': jobs.dispatch,',
    replace:
      ': (request) => new Promise((counted) => clock.after(intervalMs, counted)).then(() => jobs.dispatch(request)),',
    world: CALM,
  },
  {
    name: 'takes in more jobs than it may',
    breaks: ['I11 bounded'],
    file: 'adapters/memory/job-store.ts',
    find: "if (shelf.liveCount() >= deps.maxInflight) return { kind: 'full' };",
    replace: '',
    world: CROWDED,
  },
];
