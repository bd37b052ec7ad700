/** Cold path: an operator's orders to one node, and what the loss of its socket, or of its place here, means. */
import type { NodeId } from '../domain/ids.ts';
import type { Fleet, RegistryDeps } from './fleet.ts';
import { isConnected } from './registered-node.ts';

export type Command = 'cordon' | 'uncordon' | 'drain';

export function createControl({ clock, events, log, settings }: RegistryDeps, fleet: Fleet) {
  return {
    /** Resolves when the ledger refuses, or takes, new work accordingly. */
    async control(nodeId: NodeId, command: Command): Promise<boolean> {
      const node = fleet.nodes.get(nodeId);
      if (node === undefined) return false;
      log.info({ node_id: nodeId, command }, 'operator command');
      if (command === 'drain') {
        await fleet.publish(node, fleet.move(node, { kind: 'drain' }));
        events.ordered(nodeId, 'drain');
        return true;
      }
      const wasDraining = node.health.health === 'draining';
      node.isCordoned = command === 'cordon';
      await fleet.publish(node, command === 'uncordon' ? fleet.move(node, { kind: 'undrain' }) : []);
      if (command === 'uncordon' && wasDraining) events.ordered(nodeId, 'resume');
      return true;
    },

    disconnected(nodeId: NodeId, generation: number): void {
      const node = fleet.nodes.get(nodeId);
      // A node whose newer connection came first loses nothing when the older one closes.
      if (node === undefined || node.generation !== generation) return;
      if (node.channel !== 'socket' || !isConnected(node)) return;
      // Legacy nodes come back after five seconds at best: no job waits for that.
      const graceMs = node.profile.isLegacy ? 0 : settings.nodeReconnectGraceMs;
      node.lostUntil = clock.now() + graceMs;
      node.isFresh = false;
      void fleet.publish(node);
      events.disconnected(nodeId, graceMs);
    },

    overtaken(nodeId: NodeId, generation: number): void {
      const node = fleet.nodes.get(nodeId);
      if (node !== undefined && node.generation < generation) fleet.remove(node);
    },

    /** The next scan does it, a bounded part at a time. */
    redeclare(): void {
      for (const node of fleet.nodes.values()) node.declared = undefined;
    },
  };
}
