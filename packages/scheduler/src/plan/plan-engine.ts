/** Planning: the real engine — selection, leases, waiting queue — on virtual time, over nodes that answer when their time is up. */
import { createAudioStore } from '../adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../adapters/memory/capacity-ledger.ts';
import { createJobEvents } from '../adapters/memory/job-events.ts';
import { createJobStore } from '../adapters/memory/job-store.ts';
import { jobServiceSettings, jobStoreLimits } from '../app/settings/settings-from-config.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { DispatchRequest } from '../domain/dispatch.ts';
import { DEFAULT_TENANT } from '../domain/ids.ts';
import { ANY } from '../domain/language.ts';
import type { NodeView } from '../domain/node.ts';
import { type NodeProfile, nmtProduct } from '../domain/profile.ts';
import { equalTenancy } from '../domain/tenancy.ts';
import type { CapacityLedger } from '../ports/capacity-ledger.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeLink } from '../ports/node-link.ts';
import type { HedgeSettings } from '../runtime/attempts/hedging.ts';
import { createJobService, type RunningJobService } from '../runtime/create-job-service.ts';
import { createFleetView, type FleetView } from '../runtime/fleet/fleet-view.ts';
import type { NodeSpeeds } from '../runtime/select/node-speeds.ts';
import type { PolicyName } from '../runtime/select/policies.ts';
import { seededChance } from './kernel/seeded-chance.ts';
import { createSeededIds } from './kernel/seeded-ids.ts';
import type { Workload } from './workload.ts';

const NO_METER: Meter = { count() {}, gauge() {}, observe() {} };
/** No caller reads a settled job again, so few are kept. */
const MOST_RETAINED = 100;
/** No service time of a plan comes near it: jobs that time out are no question of how many nodes there are. */
const TIMEOUT_IN_SERVICE_TIMES = 1_000;
const LEAST_TIMEOUT_MS = 3_600_000;

export interface PlanEngineDeps {
  readonly clock: Clock;
  readonly link: NodeLink;
  readonly workload: Pick<Workload, 'serviceMs' | 'slots' | 'maxWaitMs'>;
  readonly nodes: number;
  readonly seed: string;
  /** Absent: the one of the default settings. */
  readonly policy?: PolicyName;
  /** Absent: learnt from the jobs, if the policy asks for them. */
  readonly speeds?: NodeSpeeds | undefined;
  /** Of several instances. Absent: the engine has its own. */
  readonly shared?: {
    readonly fleet: FleetView;
    readonly ledger: CapacityLedger;
    readonly hasPeers: boolean;
  };
  /** For callers that follow their jobs. Absent: the engine has its own. */
  readonly records?: { readonly store: JobStore; readonly events: JobEvents };
  readonly meter?: Meter;
  /** Absent: as in the default settings. */
  readonly refusesLate?: boolean | undefined;
  /** Absent: no job gets a hedge. */
  readonly hedge?: HedgeSettings | undefined;
  readonly paceLearnt?: (kindOfWork: string, nodeId: string, pace: number) => void;
}

export async function createPlanEngine(deps: PlanEngineDeps): Promise<RunningJobService> {
  const { clock, workload, seed } = deps;
  const config = defaults();
  const fleet = deps.shared?.fleet ?? createFleetView();
  const ledger = deps.shared?.ledger ?? createCapacityLedger({ clock, numbers: fleet.numbers });
  const settings = jobServiceSettings(config);
  const jobTimeoutMs = Math.max(LEAST_TIMEOUT_MS, TIMEOUT_IN_SERVICE_TIMES * workload.serviceMs);
  const engine = createJobService({
    clock,
    chance: seededChance(`${seed}/selection`),
    ids: createSeededIds({
      chance: seededChance(`${seed}/ids`),
      clock,
      maker: 'plan',
      digestsRequests: false,
    }),
    ledger,
    store: deps.records?.store ?? createPlanStore(clock, MOST_RETAINED),
    events: deps.records?.events ?? createJobEvents({ maxListeners: 1 }),
    audio: createAudioStore({
      maxBytes: Number.MAX_SAFE_INTEGER,
      maxBytesPerJob: Number.MAX_SAFE_INTEGER,
    }),
    link: deps.link,
    meter: deps.meter ?? NO_METER,
    log: SILENT,
    fleet,
    nodes: { profile: () => PROFILE, placed() {}, outcome() {}, modelNotAvailable() {} },
    // No tenant meets a limit of its own, and all are equals: then it does not matter whose a job is.
    tenancy: equalTenancy({ priority: 'high' }),
    speeds: deps.speeds,
    hasPeers: deps.shared?.hasPeers,
    paceLearnt: deps.paceLearnt,
    settings: {
      ...settings,
      policy: deps.policy ?? settings.policy,
      refusesLate: deps.refusesLate ?? settings.refusesLate,
      hedge: deps.hedge,
      jobTimeoutMs,
      jobDeadlineMs: 2 * jobTimeoutMs + workload.maxWaitMs,
    },
  });
  for (let at = 0; at < deps.nodes; at++) {
    const view = nodeView(`node-${at}`, workload.slots, clock.now());
    fleet.setLoad(view.nodeId, await ledger.declare(view.nodeId, { slots: view.slots, isAccepting: true }));
    fleet.upsert(view);
  }
  return engine;
}

export const createPlanStore = (clock: Clock, maxRetained: number): JobStore =>
  createJobStore({
    clock,
    ...jobStoreLimits(defaults()),
    maxRetained,
    maxInflight: Number.MAX_SAFE_INTEGER,
  });

/** `number`: which of all jobs it is; comes back as the utterance index of its assignment. */
export const planRequest = (number: number, maxWaitMs: number, audio?: Buffer): DispatchRequest => ({
  tenantId: DEFAULT_TENANT,
  sessionId: SESSION,
  need: NEED,
  spec: {
    ...SPEC,
    audio: audio === undefined ? SPEC.audio : { kind: 'held', bytes: audio.length },
    utteranceIndex: number,
  },
  audio,
  waitMs: maxWaitMs,
});

export const PLAN_RESULT = { textAsr: 'hello', textTranslated: '你好', ttsAudio: '', ttsFormat: '' };

const SESSION = 's-plan';
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

const NEED: DispatchRequest['need'] = {
  tenantId: DEFAULT_TENANT,
  sessionId: SESSION,
  directions: [{ source: 'en', target: 'zh' }],
  isSourceAuto: false,
  usesAsr: true,
  usesNmt: true,
  usesTts: true,
  types: [],
  services: [],
  isAudioByReference: false,
  isPairUnknown: false,
  needsPublicNode: false,
  isStrict: false,
};

const SPEC: DispatchRequest['spec'] = {
  utteranceIndex: 0,
  sourceLanguage: 'en',
  targetLanguage: 'zh',
  pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: true, use_tone: false },
  audio: { kind: 'none' },
  audioFormat: 'pcm16',
  sampleRate: 16_000,
  traceId: 'plan',
  cut: 'manual',
};

/** Every node can do every job: what divides a fleet, languages and pools, is planned one part at a time. */
const PROFILE: NodeProfile = {
  installedTypes: ANY,
  readyTypes: ANY,
  installedServices: [],
  readyServices: [],
  asr: ANY,
  semantic: ANY,
  tts: ANY,
  nmt: nmtProduct(ANY, ANY),
  features: [],
  hasGpu: true,
  supports: ['job_ack', 'audio_ref', 'drain', 'cancel_ack', 'text_input'],
  isLegacy: false,
};

const nodeView = (nodeId: string, slots: number, now: number): NodeView => ({
  nodeId,
  profile: PROFILE,
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

function defaults(): Config {
  const loaded = loadConfig({});
  if (loaded.kind === 'ok') return loaded.config;
  throw new Error('the defaults do not hold together');
}
