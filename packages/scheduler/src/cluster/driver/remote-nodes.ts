/**
 * Hot path: assignments to nodes whose sockets other instances hold, and assignments from other instances to our nodes.
 *
 * The holder writes the job to the socket and replies; without a socket it replies that the job is undeliverable. An assignment
 * past its expiry is dropped. Only the driver writes the job record: DISPATCHED when the reply arrives if the node never
 * acknowledges, otherwise together with RUNNING.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { Log } from '../../ports/log.ts';
import type { Assignment, Delivery, NodeLink } from '../../ports/node-link.ts';
import type { NodeRecord } from '../../ports/node-records.ts';
import type { DriverCache } from '../holder/driver-cache.ts';
import { type MessageBus, Unsent } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';

interface AssignMessage extends Assignment {
  readonly driver: string;
}

interface WithdrawMessage {
  readonly nodeId: NodeId;
  readonly jobId: JobId;
  readonly reason: string;
}

export interface RemoteNodesDeps {
  readonly bus: Pick<MessageBus, 'tell' | 'ask' | 'on'>;
  /** To nodes that are reached from here. */
  readonly local: NodeLink;
  /** A node of another instance. */
  readonly find: (nodeId: NodeId) => NodeRecord | undefined;
  /** "instance/incarnation" of this one. */
  readonly driver: () => string;
  /** Where others fetch the audio that is held here; undefined if it is not. */
  readonly audioAt: (jobId: JobId) => AudioAt | undefined;
  readonly generationOf: (nodeId: NodeId) => number | undefined;
  readonly driverCache: Pick<DriverCache, 'note'>;
  /** The store's time: what instances whose clocks differ have in common. */
  readonly storeNow: () => number;
  readonly now: () => number;
  readonly answerMs: number;
  readonly log: Log;
}

export function createRemoteNodes(deps: RemoteNodesDeps): NodeLink {
  const { bus, local, log } = deps;

  /** Who holds its socket, if that is not us. */
  function holderOf(nodeId: NodeId): string | undefined {
    const record = deps.find(nodeId);
    return record?.channel === 'socket' ? record.holder.instanceId : undefined;
  }

  async function deliverThrough(holder: string, assignment: Assignment): Promise<Delivery> {
    const { nodeId, job } = assignment;
    const { need: _need, ...sent } = job;
    const toStore = deps.storeNow() - deps.now();
    const message: AssignMessage = {
      ...assignment,
      job: sent,
      audioAt: assignment.audioAt ?? deps.audioAt(job.jobId),
      expiresAt: assignment.expiresAt + toStore,
      driver: deps.driver(),
    };
    const request = { topic: 'assign', lane: job.jobId, body: message } as const;
    try {
      return (await bus.ask(holder, request, deps.answerMs)) as Delivery;
    } catch (fault) {
      if (fault instanceof Unsent) return { kind: 'undeliverable', reason: 'holder_gone' };
      log.info(
        { job_id: job.jobId, node_id: nodeId, holder, err: fault },
        'the holder of a node did not answer',
      );
      return { kind: 'unknown', reason: 'holder_silent' };
    }
  }

  /** The link commits the lease first: an assignment that lay in the inbox for too long finds its lease ended or abandoned. */
  async function handOver(message: AssignMessage): Promise<Delivery> {
    const { nodeId, job, driver } = message;
    const fromStore = deps.now() - deps.storeNow();
    const delivery = await local.deliver({ ...message, expiresAt: message.expiresAt + fromStore });
    if (delivery.kind !== 'written') return delivery;
    deps.driverCache.note(job.jobId, driver);
    const generation = deps.generationOf(nodeId) ?? 0;
    return { kind: 'written', generation, isOutOfBand: delivery.isOutOfBand };
  }

  /** Best effort, as everywhere: the attempt is fenced whether or not the node hears of it. */
  function withdraw(holder: string, nodeId: NodeId, jobId: JobId, reason: string): void {
    const body: WithdrawMessage = { nodeId, jobId, reason };
    bus
      .tell(holder, { topic: 'withdraw', lane: jobId, body })
      .catch((fault: unknown) =>
        log.info({ job_id: jobId, node_id: nodeId, err: fault }, 'a cancel was lost'),
      );
  }

  // Whoever opened it before, this very instance perhaps, may have handed the job to its node: only its driver can end that attempt, and begin another.
  bus.on('assign', async (body, _, wasOpened) =>
    wasOpened ? ALREADY_OPENED : handOver(readMessage<AssignMessage>('assign', body, ASSIGN)),
  );
  bus.on('withdraw', async (body) => {
    const { nodeId, jobId, reason } = readMessage<WithdrawMessage>('withdraw', body, WITHDRAW);
    local.cancel(nodeId, jobId, reason);
  });

  return {
    deliver(assignment) {
      const holder = holderOf(assignment.nodeId);
      return holder === undefined ? local.deliver(assignment) : deliverThrough(holder, assignment);
    },

    cancel(nodeId, jobId, reason) {
      const holder = holderOf(nodeId);
      if (holder === undefined) return local.cancel(nodeId, jobId, reason);
      withdraw(holder, nodeId, jobId, reason);
    },
  };
}

const ASSIGN = {
  nodeId: 'string',
  attempt: 'number',
  expiresAt: 'number',
  driver: 'string',
  job: { jobId: 'string', state: 'string', spec: {} },
} as const;
const WITHDRAW = { nodeId: 'string', jobId: 'string', reason: 'string' } as const;
const ALREADY_OPENED: Delivery = { kind: 'unknown', reason: 'opened_before' };
