/** The fleet of a scenario, and its jobs, as the engine needs them. */
import { createCapacityLedger } from '../../../packages/scheduler/dist/adapters/memory/capacity-ledger.js';
import { createJobEvents } from '../../../packages/scheduler/dist/adapters/memory/job-events.js';
import { createJobStore } from '../../../packages/scheduler/dist/adapters/memory/job-store.js';
import { createNodeIdClaims } from '../../../packages/scheduler/dist/adapters/memory/node-id-claims.js';
import { systemClock as clock } from '../../../packages/scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../../packages/scheduler/dist/adapters/system/id-source.js';
import { jobStoreLimits } from '../../../packages/scheduler/dist/app/settings/settings-from-config.js';
import type { DispatchRequest } from '../../../packages/scheduler/dist/domain/dispatch.js';
import type { Registration } from '../../../packages/scheduler/dist/management/node-registry.js';
import type { Assignment } from '../../../packages/scheduler/dist/ports/node-link.js';
import { benchConfig, registration, request, WRITTEN } from '../embedded-engine.ts';
import { createEngine } from '../engine.ts';
import { type Job, languagesOf } from '../open-loop/job-mix.ts';
import type { Scenario } from '../scenario/scenario.ts';

export const nodeName = (index: number): string => `node-${index}`;

export function registrationOf(scenario: Scenario, index: number): Registration {
  const common = registration(nodeName(index), scenario.fleet.slots);
  const languages = languagesOf(scenario, index);
  const pairs = { languages, rule: 'any_to_any', blockedPairs: [], supportedPairs: [] };
  const spoken = { asr: languages, tts: languages, semantic: languages, translations: [pairs] };
  return { ...common, report: { ...common.report, languages: spoken } };
}

export function requestOf({ tenant, priority, source, target }: Job, waitMs: number): DispatchRequest {
  const common = request();
  return {
    ...common,
    tenantId: tenant,
    need: { ...common.need, tenantId: tenant, directions: [{ source, target }] },
    spec: { ...common.spec, sourceLanguage: source, targetLanguage: target },
    priority,
    waitMs,
  };
}

/** Jobs that keep a fleet busy last for the whole run. */
const PATIENT = ['scheduler.job_timeout_seconds=3600', 'scheduler.job_deadline_ms=7200000'];

export async function createMemoryFleet(scenario: Scenario, onDelivery: (assignment: Assignment) => void) {
  const { nodes } = scenario.fleet;
  const config = benchConfig(PATIENT);
  const engine = createEngine({
    config,
    ids: createIdSource({ clock, digestsRequests: false }),
    ledger: (numbers) => createCapacityLedger({ clock, numbers }),
    store: createJobStore({ clock, ...jobStoreLimits(config), maxRetained: 2_000 }),
    nodeIdClaims: createNodeIdClaims({ maxNodes: nodes + 1 }),
    events: createJobEvents({ maxListeners: 10_000 }),
    link: {
      deliver(assignment) {
        onDelivery(assignment);
        return WRITTEN;
      },
      cancel() {},
    },
  });
  for (let i = 0; i < nodes; i++) await engine.register(registrationOf(scenario, i));
  return engine;
}
