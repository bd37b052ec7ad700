/** Forwards HTTP heartbeats and operators' orders to the instance that holds the node. */
import type { HttpNodeHeartbeat } from '@lingua/protocol';
import { type MessageBus, Unsent } from '../../cluster/messaging/message-bus.ts';
import { SchedulerError } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { HeartbeatOutcome } from '../../management/node-registry.ts';
import type { NodeRecord } from '../../ports/node-records.ts';
import { readHeartbeat } from '../http/requests/http-registration.ts';
import type { HttpServices } from '../http/server/http-services.ts';
import {
  type NodeCommand,
  type OrderedNode,
  orderNode,
  type RemoteNodes,
} from '../http/views/remote-nodes.ts';

interface OrderMessage {
  readonly nodeId: NodeId;
  readonly command: NodeCommand;
}

export function createHolderForwarding(deps: {
  bus: Pick<MessageBus, 'request' | 'on'>;
  registry: HttpServices['registry'];
  replica: { find(nodeId: NodeId): NodeRecord | undefined; all(): Iterable<NodeRecord> };
  usedSlots: (nodeId: NodeId) => number | undefined;
  answerMs: number;
}): RemoteNodes {
  const { bus, registry, replica, answerMs } = deps;

  async function request<T>(nodeId: NodeId, topic: string, body: unknown): Promise<T> {
    const holder = replica.find(nodeId)?.holder.instanceId;
    if (holder === undefined)
      throw new SchedulerError('NODE_UNAVAILABLE', `no instance holds node ${nodeId}`);
    return (await bus.request(holder, { topic, lane: nodeId, body }, answerMs)) as T;
  }

  // Replies are JSON, which has null but no undefined.
  // A redelivered order is outdated: its sender has timed out, and the node or an operator may have acted since.
  bus.on('node_order', async (body, _, wasOpened) => {
    if (wasOpened) throw new SchedulerError('NODE_UNAVAILABLE', 'this order is outdated');
    const { nodeId, command } = body as OrderMessage;
    return (await orderNode({ registry, usedSlots: deps.usedSlots }, nodeId, command)) ?? null;
  });
  bus.on('node_beat', async (body, _, wasOpened) => {
    if (wasOpened) throw new SchedulerError('NODE_UNAVAILABLE', 'this report is outdated');
    const beat = body as HttpNodeHeartbeat;
    return registry.heartbeat(readHeartbeat(beat, registry.get(beat.node_id)?.languages));
  });

  return {
    find: replica.find,
    async beat(body) {
      try {
        return await request<HeartbeatOutcome>(body.node_id, 'node_beat', body);
      } catch (fault) {
        // The holder is gone: the node registers with this instance and goes on.
        if (fault instanceof Unsent) return { kind: 'unknown_node' };
        throw fault;
      }
    },
    order: async (nodeId, command) =>
      (await request<OrderedNode | null>(nodeId, 'node_order', { nodeId, command })) ?? undefined,
    page(after, limit) {
      const later = [...replica.all()].filter(({ nodeId }) => after === undefined || nodeId > after);
      return later.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)).slice(0, limit);
    },
  };
}
