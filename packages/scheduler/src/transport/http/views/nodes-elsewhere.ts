/** Nodes that other instances hold, as far as this one can speak of them, or for them. */
import type { HttpNodeHeartbeat } from '@lingua/protocol';
import type { NodeId } from '../../../domain/ids.ts';
import type { NodeHealth } from '../../../domain/node.ts';
import type { HeartbeatOutcome } from '../../../management/node-registry.ts';
import type { NodeRecord } from '../../../ports/node-records.ts';
import type { HttpServices } from '../server/http-services.ts';

export type NodeCommand = 'cordon' | 'uncordon' | 'drain';

/** A node after an operator's order. */
export interface OrderedNode {
  readonly health: NodeHealth;
  readonly isCordoned: boolean;
  readonly runningJobs: number;
}

export interface NodesElsewhere {
  /** Undefined: nobody else holds it. */
  find(nodeId: NodeId): NodeRecord | undefined;
  /** Brings a heartbeat to whoever holds the node. Throws if that one does not answer. */
  beat(body: HttpNodeHeartbeat): Promise<HeartbeatOutcome>;
  order(nodeId: NodeId, command: NodeCommand): Promise<OrderedNode | undefined>;
  /** In the order of their ids, from the one after `after`. */
  page(after: NodeId | undefined, limit: number): readonly NodeRecord[];
}

/** An operator's order, wherever the node is. */
export async function orderNode(
  { registry, elsewhere, usedSlots }: Pick<HttpServices, 'registry' | 'elsewhere' | 'usedSlots'>,
  nodeId: NodeId,
  command: NodeCommand,
): Promise<OrderedNode | undefined> {
  if (elsewhere?.find(nodeId) !== undefined) return elsewhere.order(nodeId, command);
  const isKnown = await registry.control(nodeId, command);
  const node = registry.get(nodeId);
  if (!isKnown || node === undefined) return undefined;
  return {
    health: node.view.health,
    isCordoned: node.view.isCordoned,
    runningJobs: usedSlots?.(nodeId) ?? node.resources.runningJobs,
  };
}
