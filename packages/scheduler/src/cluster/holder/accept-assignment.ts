/**
 * Hot path: assignments of other instances to nodes whose sockets this instance holds.
 *
 * The link commits the lease before it hands a job over, so an assignment that lay in the inbox for too long finds its lease ended or
 * abandoned. An assignment that was read before may have been handed over: it is dropped, because only its driver can end that attempt
 * and begin another.
 */
import { instanceOf, type JobId, type NodeId } from '../../domain/ids.ts';
import type { Assignment, NodeLink } from '../../ports/node-link.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { DriverCache } from './driver-cache.ts';
import type { NodeReport } from './node-report.ts';

export interface AssignMessage extends Assignment {
  /** "instance/incarnation" of the sender. Expiry is in the time of the store. */
  readonly driver: string;
}

export interface WithdrawMessage {
  readonly nodeId: NodeId;
  readonly jobId: JobId;
  readonly reason: string;
}

export function acceptAssignments(deps: {
  bus: Pick<MessageBus, 'on'>;
  local: NodeLink;
  driverCache: Pick<DriverCache, 'note' | 'forget'>;
  /** The node sends an acknowledgement of its own. */
  acknowledges: (nodeId: NodeId) => boolean;
  generationOf: (nodeId: NodeId) => number | undefined;
  report: (report: NodeReport) => Promise<unknown>;
  /** Reads membership again if the instance is missing there. */
  living: (expected: string) => Promise<unknown>;
  storeNow: () => number;
  now: () => number;
}): void {
  const { bus, local, driverCache } = deps;

  async function handOver(message: AssignMessage): Promise<void> {
    const { nodeId, attempt, job, driver } = message;
    const reported = { nodeId, jobId: job.jobId, attempt };
    // The node's reports find the driver here.
    driverCache.note(job.jobId, driver);
    // The driver may have joined just now. It must be known when the reports come: the membership may be unreadable then.
    deps.living(instanceOf(driver)).catch(() => {});
    const fromStoreTime = deps.now() - deps.storeNow();
    const delivery = await local.deliver({ ...message, expiresAt: message.expiresAt + fromStoreTime });
    switch (delivery.kind) {
      case 'written': {
        if (deps.acknowledges(nodeId)) return;
        const generation = deps.generationOf(nodeId) ?? 0;
        await deps.report({
          kind: 'dispatched',
          attempt: reported,
          handOver: { generation, isOutOfBand: delivery.isOutOfBand },
        });
        return;
      }
      // The driver waits for the node's own report, and abandons the attempt without one.
      case 'queued':
      case 'sent':
      case 'unknown':
        return;
      case 'undeliverable':
      case 'declined':
      case 'overloaded':
        await deps.report({ kind: 'undeliverable', attempt: reported, reason: delivery.reason });
    }
  }

  bus.on('assign', async (body, _, wasOpened) => {
    if (!wasOpened) await handOver(readMessage<AssignMessage>('assign', body, ASSIGN));
  });
  bus.on('withdraw', async (body) => {
    const { nodeId, jobId, reason } = readMessage<WithdrawMessage>('withdraw', body, WITHDRAW);
    local.cancel(nodeId, jobId, reason);
  });
}

const ASSIGN = {
  nodeId: 'string',
  attempt: 'number',
  expiresAt: 'number',
  driver: 'string',
  job: { jobId: 'string', state: 'string', spec: {} },
} as const;
const WITHDRAW = { nodeId: 'string', jobId: 'string', reason: 'string' } as const;
