/** Simulation: doors without tokens. Who may come in has tests of its own; here everybody is who its machine is. What it may do then says the real gate. */

import { accessSettings } from '../../app/settings/settings-from-config.ts';
import type { Config } from '../../config/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { createGate } from '../../transport/access/create-gate.ts';
import type { Gate, Principal, Role } from '../../transport/access/gate.ts';
import type { Machine } from '../kernel/machine.ts';

export const openGate = (deps: {
  readonly clock: Clock;
  readonly meter: Meter;
  readonly config: Config;
}): Gate => createGate({ clock: deps.clock, meter: deps.meter, settings: accessSettings(deps.config) });

/**
 * A process that starts again shows the same credential: its name is the machine's, without the number of the start. `tenant`: of its
 * token; without one it names its tenant itself.
 */
export const principalOf = (role: Role, { name }: Machine, tenant?: string): Principal => ({
  role,
  roles: new Set([role]),
  ...(tenant !== undefined && { tenantId: tenant }),
  credential: `credential-of-${name.replace(/\.\d+$/, '')}`,
  isAnonymous: false,
});
