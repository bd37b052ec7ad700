/** A scenario made so small that it only shows that it runs. Pure. */
import type { Scenario } from './scenario.ts';
import type { Varied } from './vocabulary.ts';

const SECONDS = 0.3;
const MOST_NODES = 20;
const MOST_SESSIONS = 20;
const MOST_RATE = 50;
const VALUES: Record<Varied, readonly number[]> = { nodes: [20, 40], instances: [2], sessions: [20] };

export function quickened(scenario: Scenario): Scenario {
  const { vary, saturation, arrivals, fleet, measures } = scenario;
  return {
    ...scenario,
    seconds: SECONDS,
    inFlight: Math.min(64, scenario.inFlight),
    sessions: Math.min(MOST_SESSIONS, scenario.sessions),
    instances: Math.min(2, scenario.instances),
    fleet: { ...fleet, nodes: Math.min(MOST_NODES, fleet.nodes), slots: Math.max(4, fleet.slots) },
    arrivals: { ...arrivals, rate: measures === 'sessions' ? 1 : Math.min(MOST_RATE, arrivals.rate) },
    service: { ...scenario.service, meanMs: Math.min(50, scenario.service.meanMs) },
    ...(vary !== undefined && { vary: { field: vary.field, values: VALUES[vary.field] } }),
    ...(saturation !== undefined && { saturation: { ...saturation, from: MOST_RATE, seconds: SECONDS } }),
    // One cold round meets or misses a target by accident.
    thresholds: [],
  };
}
