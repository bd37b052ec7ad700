/** A registry on the memory adapters, a stepped clock, and a record of everything it tells. */
import { afterEach } from 'vitest';
import { createCapacityLedger } from '../../src/adapters/memory/capacity-ledger.ts';
import { createNodeIdClaims } from '../../src/adapters/memory/node-id-claims.ts';
import type { CapabilityReport } from '../../src/domain/capability-report.ts';
import type { Load } from '../../src/domain/lease.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { NodeView } from '../../src/domain/node.ts';
import { createNodeRegistry } from '../../src/management/create-node-registry.ts';
import type { Heartbeat, NodeRegistry, Registration } from '../../src/management/node-registry.ts';
import {
  createDeclarationBudget,
  type DeclarationLimits,
} from '../../src/management/registration/declaration-budget.ts';
import type { ManagementSettings } from '../../src/management/settings.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import type { Meter } from '../../src/ports/meter.ts';
import type { NodeIdClaims } from '../../src/ports/node-id-claims.ts';
import { createManualClock } from '../support/manual-clock.ts';

export const SETTINGS: ManagementSettings = {
  maxNodes: 1_000,
  defaultSlots: 4,
  legacySlots: 4,
  requireGpu: false,
  profile: { assumeAnyLanguage: true, coreServices: {} },
  heartbeatIntervalMs: 15_000,
  heartbeatTimeoutMs: 45_000,
  nodeReconnectGraceMs: 2_000,
  removeStaleAfterMs: 600_000,
  scanIntervalMs: 1_000,
  scanBatch: 1_000,
  thresholds: { cpuPercent: 85, gpuPercent: 85, memoryPercent: 85 },
  health: {
    checkCount: 1,
    warmupTimeoutMs: 60_000,
    failureWindow: 5,
    failureCount: 3,
    consecutiveFailureCount: 3,
    flapWindowMs: 300_000,
    flapMaxChecks: 8,
  },
  ejection: {
    windowMs: 30_000,
    minSamples: 5,
    failurePercent: 50,
    baseMs: 10_000,
    maxMs: 300_000,
    maxEjectedPercent: 50,
    probeTimeoutMs: 60_000,
  },
  marks: { ttlMs: 60_000, debounceMs: 5_000, probeTimeoutMs: 60_000, maxPerNode: 64, maxKnown: 1_000 },
};

export const LIMITS: DeclarationLimits = {
  nodeBytes: 10_000_000,
  credentialBytes: 100_000_000,
  fleetBytes: 100_000_000,
  credentialNodes: 1_000,
};

export type FixtureEvent =
  | { event: 'changed'; view: NodeView }
  | { event: 'loaded'; nodeId: string; load: Load }
  | { event: 'removed'; nodeId: string }
  | { event: 'statusChanged'; nodeId: string; health: string; reason: string }
  | { event: 'ordered'; nodeId: string; order: string }
  | { event: 'disconnected'; nodeId: string; graceMs: number }
  | { event: 'connected'; nodeId: string; runningJobIds: readonly string[] | undefined };

interface Faults {
  /** Calls that fail, as those of a store that is away do. */
  readonly broken: Set<string>;
  /** Calls that wait for theirs to resolve; each entry holds one call. */
  readonly held: Map<string, Promise<void>>;
  readonly calls: string[];
}

function faulty<T extends object>(real: T, { broken, held, calls }: Faults): T {
  return new Proxy(real, {
    get(target, name: string) {
      const method = target[name as keyof T] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        calls.push(name);
        const gate = held.get(name);
        held.delete(name);
        if (gate !== undefined) await gate;
        if (broken.has(name)) throw new Error(`${name} failed`);
        return method.apply(target, args);
      };
    },
  });
}

const running: NodeRegistry[] = [];
afterEach(() => {
  for (const registry of running.splice(0)) registry.stop();
});

export function createFixture(
  change: Partial<ManagementSettings> = {},
  markedElsewhere?: (nodeId: string) => readonly string[],
  limits: Partial<DeclarationLimits> = {},
) {
  const settings = { ...SETTINGS, ...change };
  const clock = createManualClock();
  const events: FixtureEvent[] = [];
  const counts = new Map<string, number>();
  const gauges = new Map<string, number>();
  const broken = new Set<string>();
  const held = new Map<string, Promise<void>>();
  const calls: string[] = [];
  const memoryLedger = createCapacityLedger({ clock });
  const memoryDirectory = createNodeIdClaims({ maxNodes: settings.maxNodes });
  const ledger: CapacityLedger = faulty(memoryLedger, { broken, held, calls });
  const nodeIdClaims: NodeIdClaims = faulty(memoryDirectory, { broken, held, calls });
  let made = 0;
  const name = () => `node-made-${++made}`;
  const ignore = () => {};
  const key = (metric: MetricName, labels: object = {}) => [metric, ...Object.values(labels)].join(' ');

  const meter: Meter = {
    count: (metric, labels, by = 1) =>
      counts.set(key(metric, labels), (counts.get(key(metric, labels)) ?? 0) + by),
    gauge: (metric, value, labels) => gauges.set(key(metric, labels), value),
    observe: ignore,
  };
  const budget = createDeclarationBudget({ limits: { ...LIMITS, ...limits }, meter });
  const registry = createNodeRegistry({
    clock,
    ids: {
      nodeId: name,
      jobId: name,
      sessionId: name,
      traceId: name,
      utteranceIndex: () => ++made,
      digest: String,
    },
    ledger,
    nodeIdClaims,
    meter,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    events: {
      changed: (view) => events.push({ event: 'changed', view }),
      loaded: (nodeId, load) => events.push({ event: 'loaded', nodeId, load }),
      removed: (nodeId) => events.push({ event: 'removed', nodeId }),
      ordered: (nodeId, order) => events.push({ event: 'ordered', nodeId, order }),
      statusChanged: (nodeId, health, reason) =>
        events.push({ event: 'statusChanged', nodeId, health, reason }),
      disconnected: (nodeId, graceMs) => events.push({ event: 'disconnected', nodeId, graceMs }),
      connected: (nodeId, runningJobIds) => events.push({ event: 'connected', nodeId, runningJobIds }),
    },
    settings,
    budget: budget.own,
    markedElsewhere,
  });
  running.push(registry);

  const of = <E extends FixtureEvent['event']>(event: E) =>
    events.filter((entry): entry is Extract<FixtureEvent, { event: E }> => entry.event === event);

  async function join(registration: Partial<Registration> = {}) {
    const outcome = await registry.register(aRegistration(registration));
    if (outcome.kind !== 'registered') throw new Error(`${outcome.code}: ${outcome.message}`);
    return outcome;
  }

  const beat = (change: Partial<Heartbeat> = {}) => registry.heartbeat(aBeat(change));

  return {
    registry,
    budget,
    clock,
    settings,
    events,
    of,
    broken,
    calls,
    counts,
    gauges,
    ledger: memoryLedger,
    nodeIdClaims: memoryDirectory,
    /** The next call of that name waits until the answered function is called. */
    hold(call: string): () => void {
      let open = () => {};
      held.set(
        call,
        new Promise<void>((resolve) => {
          open = resolve;
        }),
      );
      return () => open();
    },
    /** The names of the events since the last call. */
    news: () => events.splice(0).map(({ event }) => event),
    view: (nodeId: string) => registry.get(nodeId)?.view,
    health: (nodeId: string) => registry.get(nodeId)?.view.health,
    /** Registers and answers with the outcome, which must be a success. */
    join,
    beat,
    /** A node that is registered and has proved itself. */
    async readyNode(registration: Partial<Registration> = {}) {
      const outcome = await join(registration);
      await beat({ nodeId: outcome.nodeId, generation: outcome.generation });
      return outcome;
    },
  };
}

export const READY_REPORT: CapabilityReport = {
  models: [],
  services: [{ serviceId: 'faster-whisper-vad', type: 'asr', status: 'running' }],
  types: ['asr', 'nmt', 'tts', 'semantic'].map((type) => ({ type, isReady: true })),
  languages: { asr: ['zh', 'en'], tts: ['zh', 'en'], semantic: ['zh', 'en'], isSemanticCoreReady: true },
};

/** What a legacy node sends before any of its services runs. */
export const COLD_REPORT: CapabilityReport = {
  models: [],
  services: [],
  types: ['asr', 'nmt', 'tts', 'tone', 'semantic'].map((type) => ({ type, isReady: false })),
  languages: { asr: [], tts: [], semantic: [], isSemanticCoreReady: false },
};

/** As a legacy node registers: no slots, no supports. */
export const aRegistration = (change: Partial<Registration> = {}): Registration => ({
  nodeId: 'node-1',
  credential: 'alice',
  channel: 'socket',
  schemaVersion: '2.0',
  traits: { features: [], gpuCount: 1 },
  report: READY_REPORT,
  ...change,
});

export const SDK_TRAITS = {
  features: [],
  gpuCount: 1,
  supports: ['job_ack', 'audio_ref', 'drain'],
} as const;

export const aBeat = (change: Partial<Heartbeat> = {}): Heartbeat => ({
  nodeId: 'node-1',
  resources: { cpuPercent: 10, gpuPercent: 20, memoryPercent: 30, runningJobs: 0 },
  ...change,
});
