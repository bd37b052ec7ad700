/** Cold path: counts outcomes of jobs on each node, and ejects nodes on which too many fail. */
import type { NodeId } from '../../domain/ids.ts';
import type { ServiceUse } from '../../domain/service-use.ts';
import type { Fleet, RegistryDeps } from '../fleet.ts';
import type { MarkKeeper } from '../marks/mark-keeper.ts';
import type { NodeOutcome } from '../node-registry.ts';
import type { RegisteredNode } from '../registered-node.ts';
import { afterNothing, afterOutcome, afterPlacement, type EjectionState, isSuspect } from './ejection.ts';

export function createAttemptOutcomes(
  { clock, log, meter, settings }: RegistryDeps,
  fleet: Fleet,
  marks: Pick<MarkKeeper, 'placed' | 'ended' | 'unproven'>,
) {
  function turn(node: RegisteredNode, next: EjectionState): void {
    const before = node.ejection;
    fleet.setEjection(node, next);
    if (next.phase === before.phase) return;
    if (next.phase === 'ejected') {
      meter.count('scheduler_node_ejections_total');
      log.warn({ node_id: node.nodeId, until: next.until, ejections: next.ejections }, 'node ejected');
    }
    void fleet.publish(node);
  }

  return {
    recordPlacement(nodeId: NodeId, use: ServiceUse): void {
      // Nearly all nodes are trusted, and a placement changes nothing for them. This runs in each dispatch, so it returns early.
      const node = fleet.isDoubted(nodeId) ? fleet.nodes.get(nodeId) : undefined;
      if (node === undefined) return;
      marks.placed(node, use);
      if (isSuspect(node.ejection)) turn(node, afterPlacement(node.ejection, settings.ejection, clock.now()));
    },

    recordOutcome(nodeId: NodeId, outcome: NodeOutcome, use: ServiceUse): void {
      const node = fleet.nodes.get(nodeId);
      if (node === undefined) return;
      if (outcome === 'unproven') {
        marks.unproven(node, use);
        turn(node, afterNothing(node.ejection));
        return;
      }
      const hasFailed = outcome === 'failed';
      marks.ended(node, hasFailed, use);
      turn(
        node,
        afterOutcome(node.ejection, hasFailed, fleet.canSpare(node), settings.ejection, clock.now()),
      );
    },
  };
}
