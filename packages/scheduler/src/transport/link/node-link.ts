/** Hot path: the way to a node: its open socket, else its callback endpoint, else the mailbox it polls. */
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
  /** How long slots last of jobs that are fetched, and of those that nobody acknowledges. Absent: the mailbox leaves slots as they are. */
  readonly slots?: { readonly fetchedMs: number; readonly unacknowledgedMs: number };
}

export interface NodeLinkDeps {
  readonly sockets: Pick<NodeSockets, 'send'>;
  readonly mailbox: NodeMailbox<JobAssign>;
  /** Absent: no endpoint is ever called. */
  readonly endpoints?: EndpointCaller;
  /** What is known of a node, whoever holds it. */
  readonly find: (nodeId: NodeId) => FoundNode | undefined;
  readonly audio: Pick<AudioStore, 'get'>;
  readonly references: Pick<AudioReferences, 'refer'>;
  /** Absent: all audio is held here. */
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
        // It may have the job all the same.
        return { kind: 'unknown', reason: answer.reason };
      case 'forbidden':
        return undeliverable(answer.reason);
      case 'declined':
        return { kind: 'declined', reason: answer.reason };
      case 'overloaded':
        return { kind: 'overloaded', reason: answer.reason };
    }
  }

  async function keep(
    { nodeId, attempt, job: { jobId }, expiresAt }: Assignment,
    body: JobAssign,
  ): Promise<Delivery> {
    const slot = settings.slots && { lease: leaseId(jobId, attempt), ttlMs: settings.slots.fetchedMs };
    const kept = await mailbox.put(nodeId, { jobId, expiresAt, body, ...(slot && { slot }) });
    if (kept !== 'queued') return undeliverable('mailbox_full');
    return slot === undefined ? { kind: 'queued' } : { kind: 'queued', isLasting: true };
  }

  /** At once to a socket, which is the common case: only the other ways take time. */
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
    if (!mustFetch || deps.fetcher === undefined) return hand(assignment, node, held, leftMs);
    return deps.fetcher.fetch(audioAt, leftMs).then((fetched) => {
      const stillMs = expiresAt - clock.now();
      return stillMs <= 0 ? undeliverable('expired') : hand(assignment, node, fetched, stillMs);
    });
  }

  function hand(
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
    // A node that registered otherwise may have opened a socket since.
    if (sockets.send(nodeId, made.message)) return { kind: 'written' };
    switch (node.channel) {
      case 'socket':
        return undeliverable('no_connection');
      case 'endpoint':
        return post(node, made.message, leftMs);
      case 'mailbox':
        return keep(assignment, made.message);
    }
  }

  async function withdraw(node: FoundNode, jobId: JobId, message: JobCancel): Promise<void> {
    const { nodeId, profile } = node.view;
    if (node.channel === 'mailbox') await mailbox.drop(nodeId, jobId);
    // To an endpoint that says nothing of cancelling, everything posted is a job.
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
      // Best effort: the attempt is fenced whether or not the node hears of it.
      withdraw(node, jobId, message).catch((fault: unknown) =>
        log.warn({ node_id: nodeId, job_id: jobId, err: fault }, 'a cancelled job could not be withdrawn'),
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
            'a slot lasts though its job was given up',
          ),
        );
    },
  };
}
