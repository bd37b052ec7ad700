/** /ws/node: a connection becomes a node by registering, and stays that node. */
import {
  type NodeHeartbeat,
  type NodeRegister,
  type NodeRegisterAck,
  type Problem,
  parseNodeMessage,
} from '@lingua/protocol';
import { type ErrorCode, errorEntry, SchedulerError } from '../../domain/errors.ts';
import { NO_RESULT } from '../../domain/failure.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { NodeRegistry, Registration } from '../../management/node-registry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Gate, Principal } from '../access/gate.ts';
import type { GuardedSocket, SocketHandler } from './guarded-socket.ts';
import { createNodeMessages, type NodeMessagesDeps } from './node-messages.ts';
import { toHeartbeat, toRegistration } from './node-registration.ts';
import type { NodeSockets } from './node-sockets.ts';
import { createUnansweredAttempts } from './unanswered-attempts.ts';

export interface NodeSocketDeps extends NodeMessagesDeps {
  readonly registry: Pick<NodeRegistry, 'register' | 'heartbeat' | 'disconnected'>;
  readonly gate: Pick<Gate, 'mayUseNode'>;
  readonly sockets: NodeSockets;
  readonly clock: Clock;
  readonly registrationDeadlineMs: number;
}

/** Set by the last registration of this connection. */
interface Identity {
  readonly nodeId: NodeId;
  readonly generation: number;
  readonly isLegacy: boolean;
  readonly registration: Registration;
}

export function openNodeSocket(
  deps: NodeSocketDeps,
  socket: GuardedSocket,
  principal: Principal,
): SocketHandler {
  const { registry, gate, sockets, log } = deps;
  const unanswered = createUnansweredAttempts(deps);
  const handleJobMessage = createNodeMessages(deps, unanswered);
  let identity: Identity | undefined;
  /** The connection has ended; messages received over it may still be queued. */
  let hasLeft = false;
  const cancelDeadline = deps.clock.after(deps.registrationDeadlineMs, () =>
    socket.cut('registration_deadline'),
  );

  /** Legacy nodes ignore errors: only the end of the connection makes them retry. */
  function refuse(code: ErrorCode, message: string): void {
    log.info({ code, reason: message }, 'a node was refused');
    socket.sendError(code, message);
    socket.cut(errorEntry(code).isTransient === true ? 'unavailable' : 'refused');
  }

  function register(message: NodeRegister): Promise<void> | void {
    cancelDeadline();
    const [onlyId, ...others] = principal.nodeIds ?? [];
    const nodeId = message.node_id ?? identity?.nodeId ?? (others.length === 0 ? onlyId : undefined);
    if (identity !== undefined && nodeId !== identity.nodeId) {
      socket.sendError('FORBIDDEN', `this connection is node ${identity.nodeId} already`);
      return;
    }
    if (nodeId === undefined && principal.nodeIds !== undefined) {
      return refuse('FORBIDDEN', 'this token requires a node_id, one of those it may use');
    }
    if (nodeId !== undefined && !gate.mayUseNode(principal, nodeId)) {
      return refuse('FORBIDDEN', `this token may not be node ${nodeId}`);
    }
    return registerNode(toRegistration(message, { ...principal, nodeId }));
  }

  /** A registered node keeps its connection when the fault is transient; its next heartbeat retries. */
  function refuseUnlessTransient(code: ErrorCode, message: string): void {
    if (errorEntry(code).isTransient === true) {
      log.warn({ node_id: identity?.nodeId, code, reason: message }, 'could not register a node again');
    } else refuse(code, message);
  }

  async function registerNode(registration: Registration, onRefused = refuse): Promise<void> {
    let outcome: Awaited<ReturnType<NodeRegistry['register']>>;
    try {
      outcome = await registry.register(registration);
    } catch (fault) {
      log.error({ node_id: registration.nodeId, err: fault }, 'could not register a node');
      const code = fault instanceof SchedulerError ? fault.code : 'INTERNAL_ERROR';
      return onRefused(code, 'the node could not be registered');
    }
    if (outcome.kind === 'refused') return onRefused(outcome.code, outcome.message);
    const { nodeId, generation } = outcome;
    const ack: NodeRegisterAck = {
      type: 'node_register_ack',
      node_id: nodeId,
      message: registration.nodeId === nodeId || registration.nodeId === undefined ? 'registered' : 'renamed',
      status: outcome.health,
      heartbeat_interval_ms: outcome.heartbeatIntervalMs,
      generation,
    };
    // The ack goes first, because a node drops every job that arrives before it. Its send also shows whether the
    // connection still exists.
    if (!socket.send(JSON.stringify(ack))) {
      registry.disconnected(nodeId, generation);
      return;
    }
    const { supports } = registration.traits;
    identity = {
      nodeId,
      generation,
      isLegacy: supports === undefined,
      registration: { ...registration, nodeId },
    };
    const { handedOver } = unanswered;
    if (!sockets.adopt(nodeId, { socket, generation, supports, handedOver })) socket.cut('replaced');
  }

  async function beat(message: NodeHeartbeat, node: Identity): Promise<void> {
    const outcome = await registry.heartbeat(toHeartbeat(message, node.generation));
    if (outcome.kind === 'beat') await reportEnded(message, node);
    if (outcome.kind !== 'unknown_node' || hasLeft) return;
    // The registry lost this node while it was connected (for example, Redis was emptied). A node does not register
    // again by itself.
    const { runningJobIds: _, ...registration } = node.registration;
    const runningJobIds = message.running_job_ids;
    await registerNode(
      runningJobIds === undefined ? registration : { ...registration, runningJobIds },
      refuseUnlessTransient,
    );
  }

  async function reportEnded(message: NodeHeartbeat, { nodeId, isLegacy }: Identity): Promise<void> {
    for (const ended of unanswered.heartbeat(message, isLegacy))
      await deps.jobs.fail({ nodeId, ...ended }, NO_RESULT);
  }

  /** An unreadable registration is refused like any other; a registered node stays registered. */
  function rejectInvalid(problem: Problem, type: string | undefined): void {
    socket.reject(problem);
    if (type !== 'node_register' || identity !== undefined) return;
    log.info({ code: 'INVALID_MESSAGE', reason: problem.message }, 'a node was refused');
    socket.cut('refused');
  }

  return {
    receive(text) {
      const parsed = parseNodeMessage(text);
      if (parsed.kind === 'invalid') return rejectInvalid(parsed.problem, parsed.type);
      const { message } = parsed;
      // The node may be connected elsewhere since, so a queued registration or heartbeat is outdated. Queued reports
      // about jobs still count.
      if (hasLeft && (message.type === 'node_register' || message.type === 'node_heartbeat')) return;
      if (message.type === 'node_register') return register(message);
      if (identity === undefined) {
        // After a reconnect a heartbeat may arrive first; that is allowed.
        if (message.type !== 'node_heartbeat') socket.sendError('FORBIDDEN', 'send node_register first');
        return;
      }
      if (message.node_id !== identity.nodeId) {
        return socket.sendError('FORBIDDEN', `this connection is node ${identity.nodeId}`, {
          path: '/node_id',
        });
      }
      return message.type === 'node_heartbeat'
        ? beat(message, identity)
        : handleJobMessage(message, identity);
    },
    left() {
      hasLeft = true;
      cancelDeadline();
      if (identity !== undefined) sockets.release(identity.nodeId, identity.generation);
    },
    ended() {
      if (identity === undefined) return;
      sockets.release(identity.nodeId, identity.generation);
      registry.disconnected(identity.nodeId, identity.generation);
    },
  };
}
