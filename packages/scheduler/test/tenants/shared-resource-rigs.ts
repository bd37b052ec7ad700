/** For everything that tenants share: a small real part with a limit, which a tenant can fill. */
import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { createAudioStore } from '../../src/adapters/memory/audio-store.ts';
import { createJobStore, type JobStoreLimits } from '../../src/adapters/memory/job-store.ts';
import { createRoomRecords } from '../../src/adapters/memory/room-records.ts';
import { createJobTally } from '../../src/adapters/shared-jobs/job-tally.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import type { PlanRequest } from '../../src/domain/plan.ts';
import type { SharedResourceName } from '../../src/domain/shared-resources.ts';
import { createTenancy, equalTenancy, partOf } from '../../src/domain/tenancy.ts';
import { createClientReports } from '../../src/management/stats/client-reports.ts';
import { createWaitingQueue } from '../../src/runtime/queue/waiting-queue.ts';
import { createSessionTable } from '../../src/session/connection/session-table.ts';
import { createTenantSessionCaps } from '../../src/session/connection/tenant-session-caps.ts';
import type { Session } from '../../src/session/session.ts';
import { createConnectionCounts } from '../../src/transport/access/connection-counts.ts';
import { createRequestBudgets } from '../../src/transport/access/request-budgets.ts';
import { createRunRequest } from '../../src/transport/http/requests/run-plan-request.ts';
import { callerOf, createWaits, type WaitKind } from '../../src/transport/http/server/waits.ts';
import { fresh } from '../contracts/harness.ts';
import { draftJob, draftRequest, finish } from '../contracts/job-draft.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTestCluster } from '../support/test-cluster.ts';

export interface Rig {
  /** Tries to use one more; false: refused. Room may be made among what the tenant already uses. */
  use(tenantId: string): boolean | Promise<boolean>;
  /** How much the tenant uses now. */
  used(tenantId: string): number | Promise<number>;
}

/** `limit` units for all tenants, of which one gets at most `share`. */
export type CreateRig = (limit: number, share: number) => Rig;

const IGNORE = { count() {} };
const ROOMY = 1_000_000;
const LIMITS: Omit<JobStoreLimits, 'tenantShare'> = {
  bindingLeaseMs: 60_000,
  retentionMs: 60_000,
  maxRetained: ROOMY,
  maxRetainedBytes: ROOMY * ROOMY,
  maxInflight: ROOMY,
  maxBindings: ROOMY,
};

/** Counts uses that are only refused, and never taken back. */
function counting(take: (tenantId: string) => boolean): Rig {
  const used = new Map<string, number>();
  return {
    use(tenantId) {
      if (!take(tenantId)) return false;
      used.set(tenantId, (used.get(tenantId) ?? 0) + 1);
      return true;
    },
    used: (tenantId) => used.get(tenantId) ?? 0,
  };
}

function sessions(limit: number, share: number, limits: { sessions: number; bytes: number }): Rig {
  const terms = equalTenancy().of('any');
  const tenancy = createTenancy(new Map(), terms, () => 1, share);
  const settings = { maxSessions: limits.sessions * limit, maxResultBytes: limits.bytes * limit };
  const tenantCaps = createTenantSessionCaps({ tenancy, ...settings });
  const table = createSessionTable({ ...settings, tenantCaps, evict });
  function evict(session: Session): void {
    const before = table.countedState(session);
    Object.assign(session, { phase: 'ended' });
    table.remove(session);
    table.recount(session, before);
  }
  return {
    use(tenantId) {
      if (table.refusalFor(tenantId) !== undefined) return false;
      const session = aSession(tenantId);
      table.add(session);
      const before = table.countedState(session);
      Object.assign(session, { link: undefined });
      table.recount(session, before);
      table.trimResults();
      return table.sessions.has(session.sessionId);
    },
    used: (tenantId) => [...table.sessions.values()].filter((each) => each.tenantId === tenantId).length,
  };
}

/** Connected, with one byte of results. */
const aSession = (tenantId: string): Session =>
  ({
    sessionId: fresh('session'),
    tenantId,
    phase: 'open',
    link: {},
    opening: { speech: { languages: { source: 'de', target: 'en' } } },
    delivery: { pending: { bytes: 0 }, keptBytes: 1 },
  }) as unknown as Session;

/** Jobs that end at once; what counts is what is left of them. */
function endedJobs(
  limits: Partial<JobStoreLimits>,
  draft: (tenantId: string) => JobRecord,
  isLeft: (store: ReturnType<typeof createJobStore>, job: JobRecord) => Promise<boolean>,
): Rig {
  const store = createJobStore({ clock: createManualClock(), ...LIMITS, ...limits });
  const jobs: JobRecord[] = [];
  return {
    async use(tenantId) {
      const job = draft(tenantId);
      if ((await store.admit(job)).kind !== 'admitted') return false;
      await finish(store, job.jobId);
      jobs.push(job);
      return true;
    },
    async used(tenantId) {
      const left = await Promise.all(
        jobs.filter((job) => job.tenantId === tenantId).map((job) => isLeft(store, job)),
      );
      return left.filter(Boolean).length;
    },
  };
}

/** The same in the counts of an instance on Redis. */
function endedJobsOnRedis(limits: Partial<JobStoreLimits>): Rig {
  const tally = createJobTally({ clock: createManualClock(), ...LIMITS, ...limits, liveMarginMs: 60_000 });
  const left = new Map<string, string>();
  return {
    use(tenantId) {
      const job = draftRequest(0, { tenantId });
      const claim = tally.claim(job);
      if (claim.kind !== 'claimed') return false;
      left.set(job.jobId, tenantId);
      if (claim.unbind !== undefined) left.delete(claim.unbind);
      for (const jobId of tally.settle(job.jobId, { tenantId, bytes: TEXT_BYTES, isBound: true }) ?? [])
        left.delete(jobId);
      return true;
    },
    used: (tenantId) => [...left.values()].filter((owner) => owner === tenantId).length,
  };
}

const NO_ROLES: ReadonlySet<never> = new Set();

const waits =
  (kind: WaitKind): CreateRig =>
  (limit) => {
    const all = createWaits({ max: limit, meter: IGNORE, gate: { hold: () => () => {} } });
    return counting((tenantId) => {
      const raw = Object.assign(new EventEmitter(), { req: { socket: new EventEmitter() } });
      const client = {
        role: 'client',
        roles: NO_ROLES,
        credential: fresh('token'),
        isAnonymous: false,
      } as const;
      return all.begin(kind, callerOf(client, tenantId), { raw } as unknown as FastifyReply).kind === 'begun';
    });
  };

const planRequests: CreateRig = (limit) => {
  const clock = createManualClock();
  const runner = { run: () => ({ cancel() {}, leave() {} }) };
  const run = createRunRequest({ runner, clock, max: limit });
  const wanted = [{ language: 'en', isVoiceWanted: false }];
  const used = new Map<string, number>();
  return {
    async use(tenantId) {
      // Its caller has left: the plan goes on.
      const plan = { tenantId, wanted } as unknown as PlanRequest;
      if ((await run(plan, 0, AbortSignal.abort())) === 'full') return false;
      used.set(tenantId, (used.get(tenantId) ?? 0) + 1);
      return true;
    },
    used: (tenantId) => used.get(tenantId) ?? 0,
  };
};

const ofTenant = (now: number) => (tenantId: string) => draftJob(now, { tenantId });
const isKept = async (store: { get(jobId: string): unknown }, { jobId }: JobRecord) =>
  (await store.get(jobId)) !== undefined;
/** The texts of the result that every job here gets. */
const TEXT_BYTES = 18;
const FINISHED_BYTES = 2_048 + TEXT_BYTES;

export const RIGS: Readonly<Record<SharedResourceName, readonly CreateRig[]>> = {
  sessions: [(limit, share) => sessions(limit, share, { sessions: 1, bytes: 10 })],
  session_results: [(limit, share) => sessions(limit, share, { sessions: 10, bytes: 1 })],
  jobs_in_flight: [
    (limit, tenantShare) => {
      const limits = { ...LIMITS, maxInflight: limit, tenantShare };
      const store = createJobStore({ clock: createManualClock(), ...limits });
      return counting((tenantId) => {
        const admitted = store.admit(draftJob(0, { tenantId }));
        return 'kind' in admitted && admitted.kind === 'admitted';
      });
    },
    (limit, tenantShare) => {
      const limits = { ...LIMITS, maxInflight: limit, tenantShare, liveMarginMs: 60_000 };
      const tally = createJobTally({ clock: createManualClock(), ...limits });
      return counting((tenantId) => tally.claim(draftJob(0, { tenantId })).kind === 'claimed');
    },
  ],
  waiting_jobs: [
    (limit, share) => {
      const tenancy = createTenancy(new Map(), equalTenancy().of('any'), () => 1, share);
      const queue = createWaitingQueue({
        clock: createManualClock(),
        maxWaiting: limit,
        backstopMs: 1_000,
        tenants: {
          quantumOf: () => 1,
          maxWaitingOf: (tenantId) => tenancy.share(tenancy.of(tenantId).maxWaiting, limit),
          isHeld: () => false,
        },
      });
      const waiter = {
        shape: 1,
        since: 0,
        directions: [{ source: 'de', target: 'en' }],
        class: 'normal',
        fits: () => false,
        hasCandidate: () => false,
        wake() {},
      } as const;
      return counting((tenantId) => queue.join({ ...waiter, tenantId }) === 'joined');
    },
  ],
  request_bindings: [
    (limit, tenantShare) =>
      endedJobs(
        { maxBindings: limit, tenantShare },
        (tenantId) => draftRequest(0, { tenantId }),
        async (store, { tenantId, requestId }) =>
          (await store.bound(tenantId, requestId ?? '')) !== undefined,
      ),
    (limit, tenantShare) => endedJobsOnRedis({ maxBindings: limit, tenantShare }),
  ],
  finished_jobs: [
    (limit, tenantShare) => endedJobs({ maxRetained: limit, tenantShare }, ofTenant(0), isKept),
    (limit, tenantShare) => endedJobsOnRedis({ maxRetained: limit, tenantShare }),
  ],
  finished_job_bytes: [
    (limit, tenantShare) =>
      endedJobs({ maxRetainedBytes: limit * FINISHED_BYTES, tenantShare }, ofTenant(0), isKept),
    (limit, tenantShare) => endedJobsOnRedis({ maxRetainedBytes: limit * FINISHED_BYTES, tenantShare }),
  ],
  client_reports: [
    (limit, tenantShare) => {
      const clock = createManualClock();
      const kept = createClientReports({
        clock,
        meter: IGNORE,
        tenantShare,
        maxJobs: limit,
        storesTexts: true,
      });
      const owners = new Map<string, string>();
      return {
        use(tenantId) {
          const job = { jobId: fresh('job'), sessionId: 'room-1', tenantId };
          owners.set(job.jobId, tenantId);
          return kept.add(job, 'bad_translation', 'note');
        },
        used: (tenantId) =>
          [...owners].filter(([jobId, owner]) => owner === tenantId && kept.of(jobId).length > 0).length,
      };
    },
  ],
  audio: [
    (limit, tenantShare) => {
      const store = createAudioStore({ maxBytes: 10 * limit, maxBytesPerJob: 10, tenantShare });
      return counting((tenantId) => store.put(fresh('job'), tenantId, Buffer.alloc(10)) === 'held');
    },
    (limit, tenantShare) => {
      const store = createAudioStore({ maxBytes: 10 * limit, maxBytesPerJob: 10, tenantShare });
      return counting((tenantId) => store.claim(tenantId, 10) === 'claimed');
    },
  ],
  dead_letters: [
    (limit, share) => {
      const inboxLimits = { maxMessages: ROOMY, maxDeliveries: 1, maxDead: limit };
      const { store } = createTestCluster({
        settings: { inbox: { ...inboxLimits, maxDeadOfTenant: partOf(limit, share) } },
      });
      return {
        async use(tenantId) {
          await store.inbox.open('me');
          await store.inbox.send('me', tenantId);
          await store.inbox.take('me', { max: 1, waitMs: 0 });
          await store.inbox.takeAgain('me', { max: 1, idleMs: 0, tenantOf: async (body) => body });
          return true;
        },
        used: async (tenantId) =>
          (await store.deadLetters.list('me', { max: ROOMY })).letters.filter(({ head }) => head === tenantId)
            .length,
      };
    },
  ],
  http_waits: [waits('caller')],
  event_streams: [waits('stream')],
  plan_requests: [planRequests],
  connections: [
    (limit, share) => {
      const counts = createConnectionCounts({
        maxConnections: limit,
        maxConnectionsPerTenant: partOf(limit, share),
        maxConnectionsPerAddress: limit,
      });
      return counting((tenantId) => counts.enter(tenantId, '10.0.0.1').kind === 'entered');
    },
  ],
  rooms: [
    (limit, share) => {
      const records = createRoomRecords({ clock: createManualClock(), followersOf: () => [] });
      return {
        use: async (tenantId) =>
          (await records.bind(
            { tenantId, code: fresh('code'), roomId: fresh('room') },
            60_000,
            partOf(limit, share),
          )) === 'bound',
        used: async (tenantId) => (await records.list(tenantId)).length,
      };
    },
  ],
  requests: [
    (limit, share) => {
      const limits = { requestsPerSecond: limit, requestsPerSecondPerTenant: partOf(limit, share) };
      const budgets = createRequestBudgets(limits, 0);
      return counting((tenantId) => budgets.spend(tenantId, 0).kind === 'ok');
    },
  ],
};
