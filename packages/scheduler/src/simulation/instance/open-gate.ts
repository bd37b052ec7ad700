/** Simulation: doors without tokens. Who may come in has tests of its own; here everybody is who its machine is. */
import { DEFAULT_TENANT } from '../../domain/ids.ts';
import type { Gate, Principal, Role } from '../../transport/access/gate.ts';
import type { Machine } from '../kernel/machine.ts';

export const openGate = (): Pick<Gate, 'mayUseNode' | 'tenantOf'> => ({
  mayUseNode: () => true,
  tenantOf: (_, named) => ({ kind: 'tenant', tenantId: named ?? DEFAULT_TENANT }),
});

/** A process that starts again shows the same credential: its name is the machine's, without the number of the start. */
export const principalOf = (role: Role, { name }: Machine): Principal => ({
  role,
  roles: new Set([role]),
  credential: `credential-of-${name.replace(/\.\d+$/, '')}`,
  isAnonymous: false,
});
