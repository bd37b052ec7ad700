/** What a node calls its own health, as the registry takes it. Pure. */
import type { NodeHealth } from '@lingua/protocol';
import type { Heartbeat } from '../../management/node-registry.ts';

/** A node that calls itself offline and still speaks is about to go: it gets no new work and finishes what it has. */
export const healthWord = (health: NodeHealth | undefined): Heartbeat['health'] =>
  health === 'offline' ? 'draining' : health;
