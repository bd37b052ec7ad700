/** Cold path: composes the node registry from its parts. */
import { createControl } from './control.ts';
import { createFleet, type RegistryDeps } from './fleet.ts';
import { createAttemptOutcomes } from './health/attempt-outcomes.ts';
import { createHeartbeats } from './health/heartbeat.ts';
import { createScan } from './health/scan.ts';
import { createListing } from './listing.ts';
import { createMarkKeeper } from './marks/mark-keeper.ts';
import type { NodeRegistry } from './node-registry.ts';
import { createRegistrations } from './registration/registration.ts';

export function createNodeRegistry(deps: RegistryDeps): NodeRegistry {
  const fleet = createFleet(deps);
  const marks = createMarkKeeper(deps, fleet);
  const { register, isArriving } = createRegistrations(deps, fleet, marks, (nodeId) => scan.departed(nodeId));
  const scan = createScan(deps, fleet, marks, isArriving);
  const heartbeat = createHeartbeats(deps, fleet, marks);
  return {
    register,
    heartbeat,
    ...createControl(deps, fleet),
    ...createAttemptOutcomes(deps, fleet, marks),
    markMissing: marks.markMissing,
    ...createListing(deps, fleet),
    online: fleet.online,
    measure: fleet.measure,
    stop: scan.stop,
  };
}
