/** The job engine on memory adapters, a manual clock and nodes that the test controls. */
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import { createJobStore, type MemoryJobStore } from '../../../src/adapters/memory/job-store.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import { ANY } from '../../../src/domain/language.ts';
import { leaseId } from '../../../src/domain/lease.ts';
import type { MetricName } from '../../../src/domain/metrics.ts';
import type { Need } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import { type NodeProfile, nmtProduct } from '../../../src/domain/profile.ts';
import type { HeldLease } from '../../../src/domain/replay-snapshot.ts';
import { equalTenancy, type Tenancy } from '../../../src/domain/tenancy.ts';
import type { CapacityLedger } from '../../../src/ports/capacity-ledger.ts';
import type { Chance } from '../../../src/ports/chance.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { JobStore } from '../../../src/ports/job-store.ts';
import type { LogFields } from '../../../src/ports/log.ts';
import type { Labels } from '../../../src/ports/meter.ts';
import type { Assignment, Delivery } from '../../../src/ports/node-link.ts';
import { createJobService, type JobServiceSettings } from '../../../src/runtime/create-job-service.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';

export const SETTINGS: JobServiceSettings = {
  ackTimeoutMs: 3_000,
  reservationTtlMs: 5_000,
  jobTimeoutMs: 60_000,
  jobDeadlineMs: 90_000,
  pendingTimeoutMs: 10_000,
  fleetWarmupMs: 0,
  leaseGraceMs: 5_000,
  abandonedLeaseMs: 17_000,
  isReplicaAwaited: false,
  cancelsTimedOut: true,
  maxRetry: 2,
  sampleK: 20,
  policy: 'weighted_random',
  isSpreadEnabled: false,
  spreadWindowMs: 30_000,
  retryBudget: { percent: 20, burst: 100 },
  maxWaiting: 100,
  refusesLate: true,
  maxSessionsRemembered: 1_000,
};

/** The job timeout and the grace. */
export const COMMITTED_MS = SETTINGS.jobTimeoutMs + SETTINGS.leaseGraceMs;

export const profile = (overrides: Partial<NodeProfile> = {}): NodeProfile => ({
  installedTypes: ANY,
  readyTypes: ANY,
  installedServices: [],
  readyServices: [],
  asr: ANY,
  semantic: ['en', 'zh'],
  tts: ['en', 'zh'],
  nmt: nmtProduct(['en', 'zh'], ['en', 'zh']),
  features: [],
  hasGpu: true,
  supports: ['job_ack', 'audio_ref', 'drain', 'cancel_ack'],
  isLegacy: false,
  ...overrides,
});

/** A legacy node: declares no extensions and never acknowledges. */
export const legacyProfile = (): NodeProfile => profile({ supports: [], isLegacy: true });

export const need = (overrides: Partial<Need> = {}): Need => ({
  tenantId: 'default',
  sessionId: 's-1',
  directions: [{ source: 'en', target: 'zh' }],
  isSourceAuto: false,
  usesAsr: true,
  usesNmt: true,
  usesTts: false,
  types: [],
  services: [],
  isAudioByReference: false,
  isPairUnknown: false,
  needsPublicNode: false,
  isStrict: false,
  ...overrides,
});

export const RESULT: JobResult = { textAsr: 'hello', textTranslated: '你好', ttsAudio: '', ttsFormat: '' };

export interface RigOptions {
  readonly settings?: Partial<JobServiceSettings>;
  readonly wrapLedger?: (ledger: CapacityLedger, clock: Clock) => CapacityLedger;
  readonly wrapStore?: (store: JobStore, clock: Clock) => JobStore;
  readonly maxInflight?: number;
  readonly tenancy?: Tenancy;
  readonly chance?: Chance;
  readonly retentionMs?: number;
  /** Another rig: both are instances on the same store. */
  readonly shares?: Pick<SharedWorld, 'clock' | 'ledger' | 'store'>;
  readonly drivers?: JobDrivers;
  readonly isStoreSteady?: () => boolean;
}

interface LogLine extends LogFields {
  readonly level: string;
  readonly message: string;
}

interface SharedWorld {
  readonly clock: ManualClock;
  readonly ledger: CapacityLedger;
  readonly store: MemoryJobStore;
}

export function createRig(options: RigOptions = {}) {
  const clock = options.shares?.clock ?? createManualClock();
  const inner = options.shares?.ledger ?? createCapacityLedger({ clock });
  const ledger = options.wrapLedger?.(inner, clock) ?? inner;
  const innerStore =
    options.shares?.store ??
    createJobStore({
      clock,
      bindingLeaseMs: 90_000,
      retentionMs: options.retentionMs ?? 300_000,
      maxRetained: 10_000,
      maxRetainedBytes: 64_000_000,
      maxInflight: options.maxInflight ?? 10_000,
      maxBindings: 10_000,
    });
  const store = options.wrapStore?.(innerStore, clock) ?? innerStore;
  const fleet = createFleetView();
  const profiles = new Map<string, NodeProfile>();
  const sent: Assignment[] = [];
  const cancelled: { nodeId: string; jobId: string; reason: string }[] = [];
  const outcomes: { nodeId: string; outcome: string }[] = [];
  const placements: string[] = [];
  const counts = new Map<string, number>();
  const observed: { name: MetricName; seconds: number; labels: Labels | undefined }[] = [];
  /** Every measured path and wait, slow or not. */
  const timed: { name: string; ms: number }[] = [];
  const deliveries = new Map<string, (assignment: Assignment) => Delivery | Promise<Delivery>>();
  const audio = createAudioStore({ maxBytes: 1_000_000, maxBytesPerJob: 100_000 });
  const events = createJobEvents({ maxListeners: 1_000 });
  const published: JobRecord[] = [];
  const told: string[] = [];
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ level, message, ...fields });
  let index = 0;

  const commit = async (nodeId: string, lease: string): Promise<string> => {
    try {
      return (await ledger.commit(nodeId, lease, COMMITTED_MS)).kind;
    } catch {
      return 'unknown';
    }
  };

  const service = createJobService({
    clock,
    chance: options.chance ?? Math.random,
    ids: createIdSource({ clock, digestsRequests: true }),
    ledger,
    store,
    events: {
      ...events,
      publish(job) {
        published.push(job);
        events.publish(job);
      },
    },
    drivers: options.drivers,
    isStoreSteady: options.isStoreSteady,
    audio,
    told: (jobId, { textTranslated }) => void told.push(`${jobId} ${textTranslated}`),
    fleet,
    link: {
      // Like the real link it commits the lease before the node gets the job.
      async deliver(assignment) {
        const { nodeId, attempt, job } = assignment;
        const committed = await commit(nodeId, leaseId(job.jobId, attempt));
        if (committed !== 'committed') return { kind: 'undeliverable', reason: `lease_${committed}` };
        const answer = await (deliveries.get(assignment.nodeId)?.(assignment) ?? { kind: 'written' });
        if (answer.kind === 'written' || answer.kind === 'queued') sent.push(assignment);
        return answer;
      },
      cancel: (nodeId, jobId, reason) => cancelled.push({ nodeId, jobId, reason }),
    },
    meter: {
      count(name, labels, by = 1) {
        const key = labels === undefined ? name : `${name}{${Object.values(labels).join(',')}}`;
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      gauge() {},
      observe: (name, seconds, labels) => void observed.push({ name, seconds, labels }),
    },
    slow: {
      waited: (lock, ms) => void timed.push({ name: lock, ms }),
      took: (path, ms) => void timed.push({ name: path, ms }),
    },
    log: { debug() {}, info: write('info'), warn: write('warn'), error() {} },
    nodes: {
      profile: (nodeId) => profiles.get(nodeId),
      placed: (nodeId) => void placements.push(nodeId),
      outcome: (nodeId, outcome) => outcomes.push({ nodeId, outcome }),
      modelNotAvailable() {},
    },
    tenancy: options.tenancy ?? equalTenancy({ maxWaiting: 50 }),
    settings: { ...SETTINGS, ...options.settings },
  });

  const rig = {
    clock,
    ledger: inner,
    store: innerStore,
    fleet,
    service,
    audio,
    sent,
    cancelled,
    outcomes,
    placements,
    counts,
    timed,
    lines,
    published,
    told,

    /** Milliseconds of each observation of a histogram, of that label value if one is given. */
    observed: (name: MetricName, label?: string): number[] =>
      observed
        .filter((one) => one.name === name)
        .filter(({ labels = {} }) => label === undefined || Object.values(labels).includes(label))
        .map(({ seconds }) => Math.round(seconds * 1_000)),

    async addNode(nodeId: string, slots = 1, kind: NodeProfile = profile()): Promise<void> {
      profiles.set(nodeId, kind);
      await inner.declare(nodeId, { slots, isAccepting: true });
      fleet.upsert(view(nodeId, slots, kind, clock.now()));
      fleet.setLoad(nodeId, { used: 0, max: slots });
    },

    /** How deliveries to the node end from now on. */
    onDelivery(nodeId: string, answer: (assignment: Assignment) => Delivery | Promise<Delivery>): void {
      deliveries.set(nodeId, answer);
    },

    request(overrides: Partial<DispatchRequest> = {}): DispatchRequest {
      const required = overrides.need ?? need();
      return {
        tenantId: 'default',
        sessionId: required.sessionId,
        need: required,
        spec: {
          utteranceIndex: index++,
          sourceLanguage: 'en',
          targetLanguage: 'zh',
          pipeline: { use_asr: true, use_nmt: true, use_tts: false, use_semantic: true, use_tone: false },
          audio: { kind: 'held', bytes: 4 },
          audioFormat: 'pcm16',
          sampleRate: 16_000,
          traceId: 'trace-1',
          cut: 'manual',
        },
        audio: Buffer.from([1, 2, 3, 4]),
        waitMs: 0,
        ...overrides,
      };
    },

    async dispatch(overrides: Partial<DispatchRequest> = {}): Promise<JobRecord> {
      const outcome = await service.dispatch(rig.request(overrides));
      if (outcome.kind !== 'dispatched') throw new Error(`refused: ${outcome.code} ${outcome.message}`);
      return outcome.job;
    },

    refusal(outcome: DispatchOutcome): Extract<DispatchOutcome, { kind: 'refused' }> {
      if (outcome.kind !== 'refused') throw new Error('was not refused');
      return outcome;
    },

    /** The newest assignment of the job: its node and attempt. */
    last(jobId: string): { nodeId: string; jobId: string; attempt: number } {
      const assignment = sent.filter((one) => one.job.jobId === jobId).at(-1);
      if (assignment === undefined) throw new Error(`${jobId} was never sent`);
      return { nodeId: assignment.nodeId, jobId, attempt: assignment.attempt };
    },

    /** The records that the engine writes again after a failover. */
    recordsToReplay(): JobRecord[] {
      const { inFlight, settled } = service.snapshotForReplay();
      return [...inFlight.map(({ record }) => record), ...settled];
    },

    /** The lease of the attempt that the engine writes again after a failover. */
    leaseToReplay(jobId: string, attempt: number): HeldLease | undefined {
      const [job] = service.snapshotForReplay([jobId]).inFlight;
      return job?.leases.find((one) => one.attempt === attempt && !one.isReleased);
    },

    async state(jobId: string): Promise<string | undefined> {
      return (await innerStore.get(jobId))?.state;
    },

    async used(nodeId: string): Promise<number> {
      return (await inner.loads([nodeId])).get(nodeId)?.used ?? -1;
    },
  };
  return rig;
}

export type Rig = ReturnType<typeof createRig>;

const view = (nodeId: string, slots: number, kind: NodeProfile, now: number): NodeView => ({
  nodeId,
  profile: kind,
  health: 'ready',
  isConnected: true,
  isFresh: true,
  isCalm: true,
  isQueueing: false,
  isCordoned: false,
  isEjected: false,
  slots,
  lastBeatAt: now,
  markedServices: [],
  markedTypes: [],
});
