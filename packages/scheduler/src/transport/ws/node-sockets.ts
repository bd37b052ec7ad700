/** Hot path: which node is connected here, and over which socket. The newest registration of an id has it. */
import type { NodeControl, NodeStatus, SchedulerToNode } from '@lingua/protocol';
import type { NodeId } from '../../domain/ids.ts';
import type { NodeHealth } from '../../domain/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GuardedSocket } from './guarded-socket.ts';

export interface NodeConnection {
  readonly socket: Pick<GuardedSocket, 'send' | 'cut'>;
  readonly generation: number;
  /** Absent = a legacy node. */
  readonly supports: readonly string[] | undefined;
}

export interface NodeSockets {
  /** Puts a registered connection in the place of an older one, which is closed. False: a newer one is there already. */
  adopt(nodeId: NodeId, connection: NodeConnection): boolean;
  /** Only the connection of that generation goes. */
  release(nodeId: NodeId, generation: number): void;
  isConnected(nodeId: NodeId): boolean;
  /** False: no open socket; the node never sees the message. */
  send(nodeId: NodeId, message: SchedulerToNode): boolean;
  pushStatus(nodeId: NodeId, health: NodeHealth, reason: string): void;
  /** An operator's order, to nodes that understand it; others obey by being given nothing. */
  order(nodeId: NodeId, order: 'drain' | 'resume'): void;
  /**
   * Asks the nodes that understand it to move to another instance, which they do at once: to be called when their jobs here
   * have ended. Answers how many were asked. The others stay: they come back only once, so they are closed last.
   */
  drain(reason: string): number;
  /** It has connected to another instance since. */
  cut(nodeId: NodeId): void;
  /** This instance was taken for dead: nothing that comes over these connections counts any more. */
  cutAll(): void;
}

const understandsDrain = (connection: NodeConnection | undefined): boolean =>
  connection?.supports?.includes('drain') === true;

export function createNodeSockets(deps: { clock: Clock }): NodeSockets {
  const connections = new Map<NodeId, NodeConnection>();

  const send = (nodeId: NodeId, message: SchedulerToNode): boolean =>
    connections.get(nodeId)?.socket.send(JSON.stringify(message)) ?? false;

  return {
    adopt(nodeId, connection) {
      const older = connections.get(nodeId);
      if (older !== undefined && older.generation > connection.generation) return false;
      connections.set(nodeId, connection);
      if (older !== undefined && older.socket !== connection.socket) older.socket.cut('replaced');
      return true;
    },
    release(nodeId, generation) {
      if (connections.get(nodeId)?.generation === generation) connections.delete(nodeId);
    },
    isConnected: (nodeId) => connections.has(nodeId),
    send,
    pushStatus(nodeId, health, reason) {
      const status: NodeStatus = {
        type: 'node_status',
        node_id: nodeId,
        status: health,
        reason,
        timestamp: Math.floor(deps.clock.now() / 1_000),
      };
      send(nodeId, status);
    },
    order(nodeId, order) {
      if (!understandsDrain(connections.get(nodeId))) return;
      send(nodeId, { type: 'node_control', command: order, reason: 'operator' });
    },
    drain(reason) {
      const order: NodeControl = { type: 'node_control', command: 'reconnect', reason };
      let asked = 0;
      for (const [nodeId, connection] of connections) {
        if (understandsDrain(connection) && send(nodeId, order)) asked += 1;
      }
      return asked;
    },
    cut: (nodeId) => connections.get(nodeId)?.socket.cut('replaced'),
    cutAll() {
      for (const { socket } of [...connections.values()]) socket.cut('fenced');
    },
  };
}
