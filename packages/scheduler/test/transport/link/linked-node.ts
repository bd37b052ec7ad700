/** A node link on the real adapters of one process, with nodes of each channel. */
import type { JobAssign, JobCancel, SchedulerToNode } from '@lingua/protocol';
import { onTestFinished } from 'vitest';
import { createEndpointCaller } from '../../../src/adapters/http/endpoint-caller.ts';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeChannel } from '../../../src/domain/node.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import { createNetworks } from '../../../src/transport/access/networks.ts';
import { createNodeLink } from '../../../src/transport/link/node-link.ts';
import { createNodeSockets } from '../../../src/transport/ws/node-sockets.ts';
import { endpoint, status } from '../../adapters/http/loopback-endpoint.ts';
import { fresh } from '../../contracts/harness.ts';
import type { NodeLinkHarness, Reach } from '../../contracts/node-link.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeLog } from '../ws/fakes.ts';

const MAILBOX_ROOM = 2;
const COMMITTED_MS = 65_000;

/** `by`: the channel of nodes that take a job immediately. */
export async function openNodeLink(by: 'socket' | 'endpoint'): Promise<NodeLinkHarness> {
  const clock = createManualClock();
  const ledger = createCapacityLedger({ clock });
  const mailbox = createNodeMailbox<JobAssign | JobCancel>({ clock, ledger, maxPerNode: MAILBOX_ROOM });
  const audio = createAudioStore({ maxBytes: 10_000, maxBytesPerJob: 100 });
  const sockets = createNodeSockets({ clock });
  const endpoints = createEndpointCaller({ networks: createNetworks(['127.0.0.0/8']) });
  onTestFinished(endpoints.close);
  const nodes = new Map<string, NodeStatus>();
  const received = new Map<string, () => Promise<readonly SchedulerToNode[]>>();
  const link = createNodeLink({
    clock,
    ledger,
    mailbox,
    audio,
    references: { refer: () => undefined, open: (message) => message },
    sockets,
    endpoints,
    log: createFakeLog(),
    find: (nodeId) => nodes.get(nodeId),
    settings: { endpointTimeoutMs: 300, committedMs: COMMITTED_MS },
  });

  function know(nodeId: string, channel: NodeChannel, url?: string): void {
    const profile = { isLegacy: false, supports: ['cancel_ack'] };
    const known = { channel, view: { nodeId, profile }, ...(url !== undefined && { endpoint: url }) };
    nodes.set(nodeId, known as unknown as NodeStatus);
  }

  function connect(nodeId: string): void {
    const messages: SchedulerToNode[] = [];
    const send = (text: string) => messages.push(JSON.parse(text)) > 0;
    sockets.adopt(nodeId, {
      generation: 1,
      supports: ['cancel_ack'],
      socket: { send, cut() {} },
      handedOver() {},
    });
    received.set(nodeId, async () => messages);
    know(nodeId, 'socket');
  }

  async function serve(nodeId: string, answer: Parameters<typeof endpoint>[0]): Promise<void> {
    const { url, bodies } = await endpoint(answer);
    received.set(nodeId, async () => bodies.map((body) => JSON.parse(body) as SchedulerToNode));
    know(nodeId, 'endpoint', url);
  }

  function poll(nodeId: string): void {
    know(nodeId, 'mailbox');
    received.set(nodeId, async () =>
      (await mailbox.take(nodeId, { max: 100, waitMs: 0 })).map(({ body }) => body),
    );
  }

  /** The node has no open socket, or its endpoint left the permitted networks. */
  const goAway = (nodeId: string): void =>
    by === 'socket' ? know(nodeId, 'socket') : know(nodeId, 'endpoint', 'http://10.0.0.1/jobs');

  const OPEN: Record<Reach, (nodeId: string) => Promise<void> | void> = {
    takes: (nodeId) => (by === 'socket' ? connect(nodeId) : serve(nodeId, status(202))),
    polls: poll,
    refuses: (nodeId) => serve(nodeId, status(503)),
    silent: (nodeId) => serve(nodeId, () => {}),
    gone: goAway,
  };

  return {
    link,
    ledger,
    committedMs: COMMITTED_MS,
    now: clock.now,
    advance: clock.advance,
    edgeMs: 1,
    mailboxRoom: MAILBOX_ROOM,
    hold: (jobId) => void audio.put(jobId, 'acme', Buffer.from('abcd')),
    async add(reach) {
      const nodeId = fresh('node');
      await OPEN[reach](nodeId);
      return nodeId;
    },
    received: async (nodeId) => (await received.get(nodeId)?.()) ?? [],
    close: async () => undefined,
  };
}
