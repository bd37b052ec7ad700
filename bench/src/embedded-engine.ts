/** The real engine on memory adapters with a fleet of a given size and a null transport. */
import { createCapacityLedger } from '../../packages/scheduler/dist/adapters/memory/capacity-ledger.js';
import { createJobEvents } from '../../packages/scheduler/dist/adapters/memory/job-events.js';
import { createJobStore } from '../../packages/scheduler/dist/adapters/memory/job-store.js';
import { createNodeIdClaims } from '../../packages/scheduler/dist/adapters/memory/node-id-claims.js';
import { systemClock as clock } from '../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../packages/scheduler/dist/adapters/system/id-source.js';
import { jobStoreLimits } from '../../packages/scheduler/dist/app/settings/settings-from-config.js';
import { loadConfig } from '../../packages/scheduler/dist/config/load-config.js';
import type { Config } from '../../packages/scheduler/dist/config/settings.js';
import type { DispatchRequest } from '../../packages/scheduler/dist/domain/dispatch.js';
import type { Registration } from '../../packages/scheduler/dist/management/node-registry.js';
import type { Assignment } from '../../packages/scheduler/dist/ports/node-link.js';
import { createEngine } from './engine.ts';

export const LANGUAGES = ['en', 'zh', 'ja', 'ko', 'de', 'fr', 'es', 'pt'];

/** No limit may be reached: limits are tested elsewhere. */
const ROOMY = [
  'scheduler.max_inflight_jobs=1000000',
  'scheduler.task_binding.max_bindings=1000000',
  // Nothing here acknowledges, and nothing may be retried.
  'scheduler.ack_timeout_ms=50000',
  'scheduler.reservation_ttl_ms=55000',
  'log.level=silent',
];

/** However slow the machine is, no node becomes stale and no job times out while something is measured. */
const PATIENT = [
  'scheduler.ack_timeout_ms=300000',
  'scheduler.reservation_ttl_ms=310000',
  'scheduler.job_timeout_seconds=600',
  'scheduler.job_deadline_ms=1200000',
  'scheduler.heartbeat_stale_ms=3600000',
  'scheduler.node_health.heartbeat_timeout_seconds=3600',
];

export function benchConfig(overrides: readonly string[] = []): Config {
  const loaded = loadConfig({
    flags: [...ROOMY, ...overrides].map((pair) => ['set', pair]),
  });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

export function registration(nodeId: string, slots: number): Registration {
  const pairs = { languages: LANGUAGES, rule: 'any_to_any', blockedPairs: [], supportedPairs: [] };
  return {
    nodeId,
    credential: 'bench',
    channel: 'socket',
    schemaVersion: '2.0',
    version: '1.0.0',
    platform: 'linux',
    slots,
    health: 'ready',
    traits: {
      features: [],
      gpuCount: 1,
      supports: ['job_ack', 'audio_ref', 'drain', 'cancel_ack'],
    },
    report: {
      models: [],
      services: ['asr', 'nmt', 'tts', 'semantic'].map((type) => ({
        serviceId: `${type}-1`,
        type,
        status: 'running',
      })),
      types: ['asr', 'nmt', 'tts', 'semantic'].map((type) => ({ type, isReady: true })),
      languages: { asr: LANGUAGES, tts: LANGUAGES, semantic: LANGUAGES, translations: [pairs] },
    },
  };
}

export async function createEmbeddedEngine(
  nodes: number,
  slots: number,
  delivered: (assignment: Assignment) => void = () => {},
  overrides: readonly string[] = [],
) {
  const config = benchConfig([...PATIENT, ...overrides]);
  const engine = createEngine({
    config,
    ids: createIdSource({ clock, digestsRequests: false }),
    ledger: (numbers) => createCapacityLedger({ clock, numbers }),
    store: createJobStore({ clock, ...jobStoreLimits(config), maxRetained: 2_000 }),
    nodeIdClaims: createNodeIdClaims({ maxNodes: nodes + 1 }),
    events: createJobEvents({ maxListeners: 10_000 }),
    link: {
      // At once, as to a socket.
      deliver(assignment) {
        delivered(assignment);
        return WRITTEN;
      },
      cancel() {},
    },
  });
  for (let i = 0; i < nodes; i++) await engine.register(registration(`node-${i}`, slots));
  return engine;
}

export const WRITTEN = { kind: 'written' } as const;

let sequence = 0;

/** A new request in one of the 56 directions; with a request id, so that the cost of binding is included. */
export function request(audio?: Buffer): DispatchRequest {
  const n = sequence++;
  const source = LANGUAGES[n % LANGUAGES.length] ?? 'en';
  const target = LANGUAGES[(n + 1 + (n % 7)) % LANGUAGES.length] ?? 'zh';
  const sessionId = `s-${n % 1_000}`;
  return {
    tenantId: 'default',
    sessionId,
    requestId: `req-${n}`,
    fingerprint: 'f',
    need: {
      tenantId: 'default',
      sessionId,
      directions: [{ source, target }],
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
    },
    spec: {
      utteranceIndex: n,
      sourceLanguage: source,
      targetLanguage: target,
      pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: true, use_tone: false },
      audio:
        audio === undefined ? { kind: 'reference', url: 'blob://x' } : { kind: 'held', bytes: audio.length },
      audioFormat: 'pcm16',
      sampleRate: 16_000,
      traceId: 'trace',
      cut: 'manual',
    },
    ...(audio !== undefined && { audio }),
    waitMs: 0,
  };
}

export const RESULT = { textAsr: 'hello', textTranslated: 'hallo', ttsAudio: '', ttsFormat: '' };
