/** Hot path: the sockets of the nodes that are connected to this instance. The newest registration of a node id wins. */
import type { JobAssign, NodeControl, NodeStatus, SchedulerToNode } from '@lingua/protocol';
import type { NodeId } from '../../domain/ids.ts';
import type { NodeHealth } from '../../domain/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GuardedSocket } from './guarded-socket.ts';

export interface NodeConnection {
  readonly socket: Pick<GuardedSocket, 'send' | 'cut'>;
  readonly generation: number;
  /** Absent: a legacy node. */
  readonly supports: readonly string[] | undefined;
  /** A job was written to this connection. */
  readonly handedOver: (message: JobAssign) => void;
}

export interface NodeSockets {
  /** Replaces the connection of an earlier registration, and closes it. False: a newer one is in place. */
  adopt(nodeId: NodeId, connection: NodeConnection): boolean;
  /** Removes only the connection of that generation. */
  release(nodeId: NodeId, generation: number): void;
  isConnected(nodeId: NodeId): boolean;
  /** False: there is no open socket; the node never receives the message. */
  send(nodeId: NodeId, message: SchedulerToNode): boolean;
  pushStatus(nodeId: NodeId, health: NodeHealth, reason: string): void;
  /** An operator's order, for nodes that support it; the others just get no new jobs. */
  order(nodeId: NodeId, order: 'drain' | 'resume'): void;
  /**
   * Orders the nodes that support it to reconnect to another instance, which they do immediately: call it when their
   * jobs here have ended. Returns how many were ordered. The other nodes stay: they retry only once, so they are
   * closed last.
   */
  drain(reason: string): number;
  /** The node has connected to another instance. */
  cut(nodeId: NodeId): void;
  /** Other instances declared this one dead: messages over these connections no longer count. */
  cutAll(): void;
}

const supportsDrain = (connection: NodeConnection | undefined): boolean =>
  connection?.supports?.includes('drain') === true;

export function createNodeSockets(deps: { clock: Clock }): NodeSockets {
  const connections = new Map<NodeId, NodeConnection>();

  function send(nodeId: NodeId, message: SchedulerToNode): boolean {
    const connection = connections.get(nodeId);
    if (connection?.socket.send(JSON.stringify(message)) !== true) return false;
    if (message.type === 'job_assign') connection.handedOver(message);
    return true;
  }

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
      if (!supportsDrain(connections.get(nodeId))) return;
      send(nodeId, { type: 'node_control', command: order, reason: 'operator' });
    },
    drain(reason) {
      const order: NodeControl = { type: 'node_control', command: 'reconnect', reason };
      let orderedCount = 0;
      for (const [nodeId, connection] of connections) {
        if (supportsDrain(connection) && send(nodeId, order)) orderedCount += 1;
      }
      return orderedCount;
    },
    cut: (nodeId) => connections.get(nodeId)?.socket.cut('replaced'),
    cutAll() {
      for (const { socket } of [...connections.values()]) socket.cut('fenced');
    },
  };
}
