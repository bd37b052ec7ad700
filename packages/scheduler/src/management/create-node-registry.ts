/** Cold path: the node registry, put together from its parts. */
import { createControl } from './control.ts';
import { createFleet, type RegistryDeps } from './fleet.ts';
import { createHeartbeats } from './heartbeat.ts';
import { createListing } from './listing.ts';
import type { NodeRegistry } from './node-registry.ts';
import { createRegistrations } from './registration.ts';
import { createScan } from './scan.ts';
import { createVerdicts } from './verdicts.ts';

export function createNodeRegistry(deps: RegistryDeps): NodeRegistry {
  const fleet = createFleet(deps);
  const { register, isArriving } = createRegistrations(deps, fleet, (nodeId) => scan.departed(nodeId));
  const scan = createScan(deps, fleet, isArriving);
  const heartbeat = createHeartbeats(deps, fleet);
  return {
    register,
    heartbeat,
    ...createControl(deps, fleet),
    ...createVerdicts(deps, fleet),
    ...createListing(deps, fleet),
    stop: scan.stop,
  };
}
