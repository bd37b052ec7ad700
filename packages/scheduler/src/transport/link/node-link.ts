/**
 * Hot path: the way to a node: its open socket, else its callback endpoint, else the mailbox it polls.
 *
 * The link commits the lease of an attempt and waits for the answer before it hands the job to a socket or an endpoint. So a job that a
 * node may have always holds a slot for as long as it may run, even if its driver dies right afterwards (I1). A mailbox commits when the
 * node fetches the job.
 */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import type { JobId, NodeId } from '../../domain/ids.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { NodeStatus } from '../../management/node-registry.ts';
import type { AudioFetcher } from '../../ports/audio-fetcher.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
import type { CapacityLedger, CommitResult } from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndpointCaller } from '../../ports/endpoint-caller.ts';
import type { Log } from '../../ports/log.ts';
import type { Assignment, Delivery, NodeLink } from '../../ports/node-link.ts';
import type { NodeMailbox } from '../../ports/node-mailbox.ts';
import type { NodeSockets } from '../ws/node-sockets.ts';
import { assignMessage, canFetch } from './assign-message.ts';
import type { AudioReferences } from './audio-references.ts';

export interface NodeLinkSettings {
  /** How long an endpoint may take to answer. */
  readonly endpointTimeoutMs: number;
  /** How long a lease lasts from the hand-over: as long as the job may run, and a grace. */
  readonly committedMs: number;
}

export interface NodeLinkDeps {
  readonly sockets: Pick<NodeSockets, 'send' | 'isConnected'>;
  readonly ledger: Pick<CapacityLedger, 'commit'>;
  readonly mailbox: NodeMailbox<JobAssign | JobCancel>;
  /** Absent: endpoints are never called. */
  readonly endpoints?: EndpointCaller;
  /** A node of this or another instance. */
  readonly find: (nodeId: NodeId) => FoundNode | undefined;
  readonly audio: Pick<AudioStore, 'get'>;
  readonly references: Pick<AudioReferences, 'refer' | 'open'>;
  /** Absent: all audio is held by this instance. */
  readonly fetcher?: AudioFetcher;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: NodeLinkSettings;
}

/** The mailbox whose entries the answer to a heartbeat carries. No node id contains a slash. */
export const heartbeatMailbox = (nodeId: NodeId): NodeId => `${nodeId}/heartbeat`;

export type FoundNode = Pick<NodeStatus, 'view' | 'channel' | 'endpoint'>;

const undeliverable = (reason: string): Delivery => ({ kind: 'undeliverable', reason });

export function createNodeLink(deps: NodeLinkDeps): NodeLink {
  const { sockets, mailbox, ledger, find, audio, references, clock, log, settings } = deps;

  async function post(node: FoundNode, message: JobAssign | JobCancel, limitMs: number): Promise<Delivery> {
    const { endpoint } = node;
    if (deps.endpoints === undefined || endpoint === undefined) return undeliverable('no_endpoint');
    const timeoutMs = Math.min(settings.endpointTimeoutMs, limitMs);
    const answer = await deps.endpoints.post(endpoint, JSON.stringify(message), timeoutMs);
    switch (answer.kind) {
      case 'taken':
        return { kind: 'written', isOutOfBand: true };
      case 'unreachable':
        // The node may have received the job.
        return { kind: 'unknown', reason: answer.reason };
      case 'forbidden':
        return undeliverable(answer.reason);
      case 'declined':
        return { kind: 'declined', reason: answer.reason };
      case 'overloaded':
        return { kind: 'overloaded', reason: answer.reason };
    }
  }

  async function putIntoMailbox(
    { nodeId, attempt, job: { jobId }, expiresAt }: Assignment,
    body: JobAssign,
  ): Promise<Delivery> {
    const slot = { lease: leaseId(jobId, attempt), ttlMs: settings.committedMs };
    const put = await mailbox.put(nodeId, { jobId, expiresAt, body, slot });
    return put === 'queued' ? { kind: 'queued' } : undeliverable('mailbox_full');
  }

  /** Synchronous for a socket, the common case; the other channels take time. */
  function deliver(assignment: Assignment): MaybePromise<Delivery> {
    const { nodeId, job, expiresAt, audioAt } = assignment;
    const node = find(nodeId);
    if (node === undefined) return undeliverable('unknown_node');
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) return undeliverable('expired');
    const held = audio.get(job.jobId);
    const mustFetch =
      held === undefined &&
      job.spec.audio.kind === 'held' &&
      audioAt !== undefined &&
      !canFetch(node.view.profile);
    if (!mustFetch || deps.fetcher === undefined) return handOver(assignment, node, held);
    return deps.fetcher.fetch(audioAt, leftMs).then((fetched) => {
      return expiresAt <= clock.now() ? undeliverable('expired') : handOver(assignment, node, fetched);
    });
  }

  function handOver(
    assignment: Assignment,
    node: FoundNode,
    held: Buffer | undefined,
  ): MaybePromise<Delivery> {
    const { nodeId, attempt, job, audioAt } = assignment;
    const made = assignMessage({
      job,
      attempt,
      profile: node.view.profile,
      audio: held,
      audioAt,
      refer: (bytes) => references.refer(job.jobId, bytes),
    });
    if (made.kind === 'unfit') return undeliverable(made.reason);
    const { message } = made;
    // A node that registered with an endpoint or a mailbox may have opened a socket since.
    if (!sockets.isConnected(nodeId)) {
      if (node.channel === 'socket') return undeliverable('no_connection');
      if (node.channel === 'mailbox') return putIntoMailbox(assignment, message);
    }
    const committing = ledger.commit(nodeId, leaseId(job.jobId, attempt), settings.committedMs);
    return committing instanceof Promise
      ? committing.then(
          (committed) => handCommitted(assignment, node, message, committed),
          (fault: unknown) => commitFailed(assignment, fault),
        )
      : handCommitted(assignment, node, message, committing);
  }

  function handCommitted(
    { nodeId, expiresAt }: Assignment,
    node: FoundNode,
    message: JobAssign,
    { kind }: CommitResult,
  ): MaybePromise<Delivery> {
    if (kind !== 'committed') return undeliverable(`lease_${kind}`);
    // The commit may have taken long, or this process was frozen meanwhile: the driver may have abandoned the attempt after it.
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) return undeliverable('expired');
    const opened = references.open(message);
    if (sockets.send(nodeId, opened)) return { kind: 'written' };
    return node.channel === 'endpoint' ? post(node, opened, leftMs) : undeliverable('no_connection');
  }

  function commitFailed({ nodeId, attempt, job: { jobId } }: Assignment, fault: unknown): Delivery {
    const fields = { job_id: jobId, node_id: nodeId, attempt_id: attempt, err: fault };
    log.warn(fields, 'the lease of a job could not be committed; the job was not handed to its node');
    return undeliverable('lease_unknown');
  }

  /** For the answers to the node's next poll and heartbeat. A full mailbox refuses it: then the node finishes the job in vain. */
  async function announce({ view: { nodeId }, channel }: FoundNode, body: JobCancel): Promise<void> {
    const expiresAt = clock.now() + settings.committedMs;
    const notice = { jobId: `cancel:${body.job_id}`, expiresAt, body };
    await mailbox.put(heartbeatMailbox(nodeId), notice);
    if (channel === 'mailbox') await mailbox.put(nodeId, notice);
  }

  async function withdraw(node: FoundNode, jobId: JobId, message: JobCancel): Promise<void> {
    const { nodeId, profile } = node.view;
    if (node.channel === 'socket' || (node.channel === 'mailbox' && (await mailbox.drop(nodeId, jobId))))
      return;
    // An endpoint without cancel_ack would take any posted message for a job.
    if (node.channel === 'endpoint' && profile.supports.includes('cancel_ack'))
      await post(node, message, settings.endpointTimeoutMs);
    else await announce(node, message);
  }

  return {
    deliver,
    cancel(nodeId, jobId, reason) {
      const message: JobCancel = { type: 'job_cancel', job_id: jobId, reason };
      sockets.send(nodeId, message);
      const node = find(nodeId);
      if (node === undefined) return;
      // Best effort: the attempt is fenced in any case.
      withdraw(node, jobId, message).catch((fault: unknown) =>
        log.warn({ node_id: nodeId, job_id: jobId, err: fault }, 'could not withdraw a cancelled job'),
      );
    },
  };
}
