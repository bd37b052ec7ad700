/** Hot path: delivers jobs to a node: over its open socket, else its callback endpoint, else the mailbox that it polls. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import type { JobId, NodeId } from '../../domain/ids.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { NodeStatus } from '../../management/node-registry.ts';
import type { AudioFetcher } from '../../ports/audio-fetcher.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
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
  /** How long the leases of fetched and of unacknowledged jobs last. Absent: the mailbox does not change leases. */
  readonly slots?: { readonly fetchedMs: number; readonly unacknowledgedMs: number };
}

export interface NodeLinkDeps {
  readonly sockets: Pick<NodeSockets, 'send'>;
  readonly mailbox: NodeMailbox<JobAssign>;
  /** Absent: endpoints are never called. */
  readonly endpoints?: EndpointCaller;
  /** A node of this or another instance. */
  readonly find: (nodeId: NodeId) => FoundNode | undefined;
  readonly audio: Pick<AudioStore, 'get'>;
  readonly references: Pick<AudioReferences, 'refer'>;
  /** Absent: all audio is held by this instance. */
  readonly fetcher?: AudioFetcher;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: NodeLinkSettings;
}

export type FoundNode = Pick<NodeStatus, 'view' | 'channel' | 'endpoint'>;

const undeliverable = (reason: string): Delivery => ({ kind: 'undeliverable', reason });

export function createNodeLink(deps: NodeLinkDeps): NodeLink {
  const { sockets, mailbox, find, audio, references, clock, log, settings } = deps;

  async function post(node: FoundNode, message: JobAssign | JobCancel, limitMs: number): Promise<Delivery> {
    const { endpoint } = node;
    if (deps.endpoints === undefined || endpoint === undefined) return undeliverable('no_endpoint');
    const timeoutMs = Math.min(settings.endpointTimeoutMs, limitMs);
    const answer = await deps.endpoints.post(endpoint, JSON.stringify(message), timeoutMs);
    switch (answer.kind) {
      case 'taken':
        return { kind: 'written', isApart: true };
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
    const slot = settings.slots && { lease: leaseId(jobId, attempt), ttlMs: settings.slots.fetchedMs };
    const kept = await mailbox.put(nodeId, { jobId, expiresAt, body, ...(slot && { slot }) });
    if (kept !== 'queued') return undeliverable('mailbox_full');
    return slot === undefined ? { kind: 'queued' } : { kind: 'queued', isLasting: true };
  }

  /** Synchronous for a socket, the common case; the other channels take time. */
  function deliver(assignment: Assignment): MaybePromise<Delivery> {
    const { nodeId, job, expiresAt, audioAt } = assignment;
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) return undeliverable('expired');
    const node = find(nodeId);
    if (node === undefined) return undeliverable('unknown_node');
    const held = audio.get(job.jobId);
    const mustFetch =
      held === undefined &&
      job.spec.audio.kind === 'held' &&
      audioAt !== undefined &&
      !canFetch(node.view.profile);
    if (!mustFetch || deps.fetcher === undefined) return handOver(assignment, node, held, leftMs);
    return deps.fetcher.fetch(audioAt, leftMs).then((fetched) => {
      const stillMs = expiresAt - clock.now();
      return stillMs <= 0 ? undeliverable('expired') : handOver(assignment, node, fetched, stillMs);
    });
  }

  function handOver(
    assignment: Assignment,
    node: FoundNode,
    held: Buffer | undefined,
    leftMs: number,
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
    // A node that registered over HTTP may have opened a socket since.
    if (sockets.send(nodeId, made.message)) return { kind: 'written' };
    switch (node.channel) {
      case 'socket':
        return undeliverable('no_connection');
      case 'endpoint':
        return post(node, made.message, leftMs);
      case 'mailbox':
        return putIntoMailbox(assignment, made.message);
    }
  }

  async function withdraw(node: FoundNode, jobId: JobId, message: JobCancel): Promise<void> {
    const { nodeId, profile } = node.view;
    if (node.channel === 'mailbox') await mailbox.drop(nodeId, jobId);
    // An endpoint without cancel_ack would take any posted message for a job.
    else if (node.channel === 'endpoint' && profile.supports.includes('cancel_ack')) {
      await post(node, message, settings.endpointTimeoutMs);
    }
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

    giveUp(nodeId, jobId, attempt) {
      if (settings.slots === undefined || find(nodeId)?.channel !== 'mailbox') return;
      const slot = { lease: leaseId(jobId, attempt), ttlMs: settings.slots.unacknowledgedMs };
      mailbox
        .drop(nodeId, jobId, slot)
        .catch((fault: unknown) =>
          log.warn(
            { node_id: nodeId, job_id: jobId, err: fault },
            'could not shorten the lease of an abandoned attempt',
          ),
        );
    },
  };
}
