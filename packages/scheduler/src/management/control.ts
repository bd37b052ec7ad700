/** Cold path: an operator's commands to one node, and the end of a node's socket or of its stay on this instance. */
import type { NodeId } from '../domain/ids.ts';
import type { Fleet, RegistryDeps } from './fleet.ts';
import { isConnected, type RegisteredNode } from './registered-node.ts';

export type Command = 'cordon' | 'uncordon' | 'drain' | 'remove';

/** The whole reason is in the audit log; every instance keeps this much of it. */
const MAX_REASON = 500;

export function createControl({ clock, events, log, settings }: RegistryDeps, fleet: Fleet) {
  /** Other instances see the lost connection first, and retry the jobs that they drive; then the scan removes the node. */
  async function retire(node: RegisteredNode): Promise<void> {
    node.isRetired = true;
    node.homeChannel = undefined;
    node.lostUntil = clock.now();
    events.disconnected(node.nodeId, 0);
    await fleet.publish(node, fleet.move(node, { kind: 'loss', reason: 'removed' }));
  }

  return {
    /** Resolves when the ledger has the change: it rejects or accepts new jobs accordingly. */
    async control(nodeId: NodeId, command: Command, reason?: string): Promise<boolean> {
      const node = fleet.nodes.get(nodeId);
      if (node === undefined) return false;
      log.info({ node_id: nodeId, command }, 'carried out a command on a node');
      if (command === 'remove') {
        await retire(node);
        return true;
      }
      node.areOrdersKept = false;
      node.orderReason = command === 'uncordon' ? undefined : reason?.slice(0, MAX_REASON);
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
      // Only the close of the current connection counts; a newer one may have replaced it.
      if (node === undefined || node.generation !== generation) return;
      if (node.channel !== 'socket' || !isConnected(node)) return;
      // Legacy nodes reconnect after five seconds at the earliest, so their jobs are retried at once.
      const graceMs = node.profile.isLegacy ? 0 : settings.nodeReconnectGraceMs;
      node.lostUntil = clock.now() + graceMs;
      void fleet.publish(node);
      events.disconnected(nodeId, graceMs);
    },

    overtaken(nodeId: NodeId, generation: number): void {
      const node = fleet.nodes.get(nodeId);
      if (node !== undefined && node.generation < generation) fleet.remove(node);
    },

    /** The next scans declare the nodes again, a few at a time. */
    redeclare(): void {
      for (const node of fleet.nodes.values()) node.declared = undefined;
    },
  };
}
