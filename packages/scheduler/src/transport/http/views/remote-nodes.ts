/** Nodes of other instances: lookups, and requests that go to their holders. */
import type { HttpNodeHeartbeat, NodeAttempt, NodeView } from '@lingua/protocol';
import type { NodeId } from '../../../domain/ids.ts';
import type { NodeHealth } from '../../../domain/node.ts';
import type { HeartbeatOutcome } from '../../../management/node-registry.ts';
import type { NodeRecord } from '../../../ports/node-records.ts';
import type { HttpServices } from '../server/http-services.ts';
import type { DetailPart } from './node-view.ts';

export type NodeCommand = 'cordon' | 'uncordon' | 'drain' | 'remove';

/** A node after a command. */
export interface OrderedNode {
  readonly health: NodeHealth;
  readonly isCordoned: boolean;
  readonly runningJobs: number;
}

/** What the other instances know of a node. */
export interface NodeElsewhere {
  /** From the instance that holds it. */
  readonly node?: DetailPart | undefined;
  readonly attempts: readonly NodeAttempt[];
  /** Instances that did not answer. */
  readonly unreachable: readonly string[];
}

export interface RemoteNodes {
  /** Undefined: no other instance holds it. */
  find(nodeId: NodeId): NodeRecord | undefined;
  /** Forwards a heartbeat to the node's holder. Throws if the holder does not answer. */
  beat(body: HttpNodeHeartbeat): Promise<HeartbeatOutcome>;
  order(nodeId: NodeId, command: NodeCommand, reason?: string): Promise<OrderedNode | undefined>;
  /** As their holders see them. A node whose holder does not answer is not among them. */
  views(nodeIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, NodeView>>;
  describe(nodeId: NodeId): Promise<NodeElsewhere>;
  /** Ordered by id, starting after `after`. */
  page(after: NodeId | undefined, limit: number): readonly NodeRecord[];
}

/** Carries out a command on a node of this or another instance. */
export async function orderNode(
  { registry, remoteNodes, usedSlots }: Pick<HttpServices, 'registry' | 'remoteNodes' | 'usedSlots'>,
  nodeId: NodeId,
  command: NodeCommand,
  reason?: string,
): Promise<OrderedNode | undefined> {
  if (remoteNodes?.find(nodeId) !== undefined) return remoteNodes.order(nodeId, command, reason);
  const isKnown = await registry.control(nodeId, command, reason);
  const node = registry.get(nodeId);
  if (!isKnown || node === undefined) return undefined;
  return {
    health: node.view.health,
    isCordoned: node.view.isCordoned,
    runningJobs: usedSlots?.(nodeId) ?? node.resources.runningJobs,
  };
}
