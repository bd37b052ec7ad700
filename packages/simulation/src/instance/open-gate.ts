/**
 * Simulation: access control without tokens, which has its own tests: each client is who its machine is. What it may do is decided
 * by the real gate.
 */

import { accessSettings } from '../../../scheduler/dist/app/settings/settings-from-config.js';
import type { Config } from '../../../scheduler/dist/config/settings.js';
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import type { Meter } from '../../../scheduler/dist/ports/meter.js';
import { createGate } from '../../../scheduler/dist/transport/access/create-gate.js';
import type { Gate, Principal, Role } from '../../../scheduler/dist/transport/access/gate.js';

export const openGate = (deps: {
  readonly clock: Clock;
  readonly meter: Meter;
  readonly config: Config;
}): Gate =>
  createGate({ clock: deps.clock, meter: deps.meter, settings: accessSettings(deps.config, 'simulation') });

/**
 * A process that starts again has the same credential: its name is the machine's, without the number of the start. `tenant`: of its
 * token; without one it names its tenant itself.
 */
export const principalOf = (role: Role, { name }: Machine, tenant?: string): Principal => ({
  role,
  roles: new Set([role]),
  ...(tenant !== undefined && { tenantId: tenant }),
  credential: `credential-of-${name.replace(/\.\d+$/, '')}`,
  isAnonymous: false,
});
