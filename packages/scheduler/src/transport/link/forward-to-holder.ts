/** Forwards HTTP heartbeats and operators' orders to the instance that holds the node, and reads nodes there. */
import type { HttpNodeHeartbeat, NodeView } from '@lingua/protocol';
import { type MessageBus, Unsent } from '../../cluster/messaging/message-bus.ts';
import { readMessage } from '../../cluster/messaging/read-message.ts';
import type { AskInstances } from '../../cluster/operators/ask-instances.ts';
import { SchedulerError } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { HeartbeatOutcome } from '../../management/node-registry.ts';
import type { NodeRecord } from '../../ports/node-records.ts';
import { readHeartbeat } from '../http/requests/http-registration.ts';
import { type DetailServices, describeHere } from '../http/views/node-detail.ts';
import { viewNode } from '../http/views/node-view.ts';
import {
  type NodeCommand,
  type NodeElsewhere,
  type OrderedNode,
  orderNode,
  type RemoteNodes,
} from '../http/views/remote-nodes.ts';

interface OrderMessage {
  readonly nodeId: NodeId;
  readonly command: NodeCommand;
  readonly reason?: string;
}

/** Nodes in one message, so that neither it nor its answer blocks an event loop. */
const MAX_VIEWED_AT_ONCE = 200;

export function createHolderForwarding(
  deps: {
    bus: Pick<MessageBus, 'request' | 'on'>;
    ask: AskInstances;
    replica: { find(nodeId: NodeId): NodeRecord | undefined; all(): Iterable<NodeRecord> };
    answerMs: number;
    usedSlots: (nodeId: NodeId) => number | undefined;
    instanceId: string;
  } & Pick<DetailServices, 'registry' | 'clock' | 'recentAttempts'>,
): RemoteNodes {
  const { bus, registry, replica, answerMs, usedSlots, clock, instanceId } = deps;

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
    const { nodeId, command, reason } = body as OrderMessage;
    return (await orderNode({ registry, usedSlots }, nodeId, command, reason)) ?? null;
  });
  bus.on('node_beat', async (body, _, wasOpened) => {
    if (wasOpened) throw new SchedulerError('NODE_UNAVAILABLE', 'this report is outdated');
    const beat = body as HttpNodeHeartbeat;
    return registry.heartbeat(readHeartbeat(beat, registry.get(beat.node_id)));
  });
  bus.on('view_nodes', async (body): Promise<readonly NodeView[]> => {
    const { nodeIds } = body as { readonly nodeIds: readonly NodeId[] };
    const now = clock.now();
    return nodeIds.slice(0, MAX_VIEWED_AT_ONCE).flatMap((nodeId) => {
      const status = registry.get(nodeId);
      const facts = { now, usedSlots: usedSlots(nodeId), instanceId };
      return status === undefined ? [] : [viewNode(status, facts)];
    });
  });
  bus.on('describe_node', async (body) => {
    const { nodeId } = readMessage<{ nodeId: NodeId }>('describe_node', body, { nodeId: 'string' });
    return describeHere({ ...deps, settings: { instanceId } }, nodeId);
  });

  /** The nodes of one holder; none if it does not answer. */
  async function viewsOf(holder: string, nodeIds: readonly NodeId[]): Promise<readonly NodeView[]> {
    const message = { topic: 'view_nodes', lane: nodeIds[0] ?? '', body: { nodeIds } };
    try {
      return (await bus.request(holder, message, answerMs)) as readonly NodeView[];
    } catch {
      return [];
    }
  }

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
    order: async (nodeId, command, reason) =>
      (await request<OrderedNode | null>(nodeId, 'node_order', { nodeId, command, reason })) ?? undefined,
    async views(nodeIds) {
      const byHolder = new Map<string, NodeId[]>();
      for (const nodeId of nodeIds) {
        const holder = replica.find(nodeId)?.holder.instanceId;
        if (holder !== undefined) byHolder.set(holder, [...(byHolder.get(holder) ?? []), nodeId]);
      }
      const pages = [...byHolder].flatMap(([holder, ids]) =>
        portions(ids).map((some) => viewsOf(holder, some)),
      );
      return new Map((await Promise.all(pages)).flat().map((view) => [view.node_id, view]));
    },
    async describe(nodeId) {
      const { answers, unreachable } = await deps.ask('describe_node', nodeId, { nodeId });
      const holder = replica.find(nodeId)?.holder.instanceId ?? '';
      const known = [...answers.values()] as NodeElsewhere[];
      const { node } = (answers.get(holder) ?? {}) as Partial<NodeElsewhere>;
      return { node, attempts: known.flatMap(({ attempts }) => attempts), unreachable };
    },
    page(after, limit) {
      const later = [...replica.all()].filter(({ nodeId }) => after === undefined || nodeId > after);
      return later.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)).slice(0, limit);
    },
  };
}

const portions = (ids: readonly NodeId[]): readonly NodeId[][] =>
  Array.from({ length: Math.ceil(ids.length / MAX_VIEWED_AT_ONCE) }, (_, at) =>
    ids.slice(at * MAX_VIEWED_AT_ONCE, (at + 1) * MAX_VIEWED_AT_ONCE),
  );
