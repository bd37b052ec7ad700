/**
 * Hot path: the link to nodes, wherever they are. Jobs for nodes whose sockets another instance holds go to the inbox of that holder.
 *
 * An assignment is a message, and the holder answers it with reports: `dispatched` if a legacy node has the job, `undeliverable` if the
 * node does not have it and never will. A node that acknowledges jobs reports for itself. Without any report the driver abandons the
 * attempt after the acknowledgement timeout.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { Log } from '../../ports/log.ts';
import type { Assignment, Delivery, NodeLink } from '../../ports/node-link.ts';
import type { NodeRecord } from '../../ports/node-records.ts';
import type { AssignMessage, WithdrawMessage } from '../holder/accept-assignment.ts';
import type { MessageBus } from '../messaging/message-bus.ts';

export interface SendToHolderDeps {
  readonly bus: Pick<MessageBus, 'send'>;
  /** The link to nodes that this instance reaches itself. */
  readonly local: NodeLink;
  /** The record of a node of another instance. */
  readonly find: (nodeId: NodeId) => NodeRecord | undefined;
  /** "instance/incarnation" of this one. */
  readonly driver: () => string;
  /** Where other instances fetch audio that this instance holds; undefined if it does not hold it. */
  readonly audioAt: (jobId: JobId) => AudioAt | undefined;
  /** The time of the store: the clocks of two instances may differ. */
  readonly storeNow: () => number;
  readonly now: () => number;
  readonly log: Log;
}

export function createSendToHolder(deps: SendToHolderDeps): NodeLink {
  const { bus, local, log } = deps;

  /** The instance that holds the node's socket, if that is another one. */
  function holderOf(nodeId: NodeId): string | undefined {
    const record = deps.find(nodeId);
    return record?.channel === 'socket' ? record.holder.instanceId : undefined;
  }

  async function sendAssignment(holder: string, assignment: Assignment): Promise<Delivery> {
    const { nodeId, job } = assignment;
    // The holder does not look for other nodes.
    const { need: _need, ...sent } = job;
    const toStoreTime = deps.storeNow() - deps.now();
    const body: AssignMessage = {
      ...assignment,
      job: sent,
      audioAt: assignment.audioAt ?? deps.audioAt(job.jobId),
      expiresAt: assignment.expiresAt + toStoreTime,
      driver: deps.driver(),
    };
    try {
      const isSent = await bus.send(holder, { topic: 'assign', lane: job.jobId, body });
      return isSent ? SENT : HOLDER_GONE;
    } catch (fault) {
      log.info(
        { job_id: job.jobId, node_id: nodeId, holder, err: fault },
        'an assignment may not have reached the holder of the node',
      );
      return UNKNOWN;
    }
  }

  /** Best effort: the attempt is fenced whether or not the node receives the cancel. */
  function sendCancel(holder: string, nodeId: NodeId, jobId: JobId, reason: string): void {
    const body: WithdrawMessage = { nodeId, jobId, reason };
    bus
      .send(holder, { topic: 'withdraw', lane: jobId, body })
      .catch((fault: unknown) =>
        log.info({ job_id: jobId, node_id: nodeId, err: fault }, 'a cancel could not be sent to the holder'),
      );
  }

  return {
    deliver(assignment) {
      const holder = holderOf(assignment.nodeId);
      return holder === undefined ? local.deliver(assignment) : sendAssignment(holder, assignment);
    },

    cancel(nodeId, jobId, reason) {
      const holder = holderOf(nodeId);
      if (holder === undefined) return local.cancel(nodeId, jobId, reason);
      sendCancel(holder, nodeId, jobId, reason);
    },
  };
}

const SENT: Delivery = { kind: 'sent' };
const HOLDER_GONE: Delivery = { kind: 'undeliverable', reason: 'holder_gone' };
const UNKNOWN: Delivery = { kind: 'unknown', reason: 'holder_unreached' };
