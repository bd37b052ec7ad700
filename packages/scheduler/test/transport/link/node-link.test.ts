/** The way to a node through sockets, endpoints and mailboxes: the law of the port, and which way is taken. */
import type { JobAssign, SchedulerToNode } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeChannel } from '../../../src/domain/node.ts';
import type { NodeExtension } from '../../../src/domain/profile.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import type { CallResult } from '../../../src/ports/endpoint-caller.ts';
import { createNodeLink } from '../../../src/transport/link/node-link.ts';
import { nodeLinkContract } from '../../contracts/node-link.ts';
import { createFakeLog } from '../ws/fakes.ts';
import { createSteppedClock } from '../ws/stepped-clock.ts';
import { job } from './jobs.ts';
import { openNodeLink } from './linked-node.ts';

nodeLinkContract('sockets and mailboxes', () => openNodeLink('socket'));
nodeLinkContract('endpoints and mailboxes', () => openNodeLink('endpoint'));

interface Node {
  readonly channel: NodeChannel;
  readonly hasSocket?: boolean;
  readonly endpoint?: string;
  readonly supports?: readonly NodeExtension[];
}

const ENDPOINT = 'http://10.0.0.1/jobs';

function link(node: Node | undefined, answer: CallResult = { kind: 'taken' }) {
  const clock = createSteppedClock();
  const mailbox = createNodeMailbox<JobAssign>({ clock, maxPerNode: 1 });
  const audio = createAudioStore({ maxBytes: 100, maxBytesPerJob: 100 });
  audio.put('job-1', Buffer.from('abc'));
  const sent: SchedulerToNode[] = [];
  const posted: { url: string; body: SchedulerToNode; timeoutMs: number }[] = [];
  const status = node && {
    channel: node.channel,
    ...(node.endpoint !== undefined && { endpoint: node.endpoint }),
    view: { nodeId: 'node-a', profile: { isLegacy: false, supports: node.supports ?? [] } },
  };
  const log = createFakeLog();
  const nodeLink = createNodeLink({
    clock,
    mailbox,
    audio,
    references: {
      refer: (jobId, { length: bytes }) => ({ url: `http://here/${jobId}`, token: 'token-1', bytes }),
    },
    log,
    sockets: { send: (_, message) => node?.hasSocket === true && sent.push(message) > 0 },
    find: () => status as NodeStatus | undefined,
    endpoints: {
      permits: () => true,
      async post(url, body, timeoutMs) {
        posted.push({ url, body: JSON.parse(body), timeoutMs });
        return answer;
      },
    },
    settings: { endpointTimeoutMs: 2_000 },
  });
  const deliver = (expiresInMs = 5_000) =>
    nodeLink.deliver({ nodeId: 'node-a', attempt: 1, job: job(), expiresAt: clock.now() + expiresInMs });
  const fetched = () => mailbox.take('node-a', { max: 10, waitMs: 0 });
  return { nodeLink, deliver, fetched, sent, posted, audio, mailbox, clock, log };
}

describe('the way to a node', () => {
  it.each(['socket', 'endpoint', 'mailbox'] as const)(
    'is its open socket, also if it registered with channel %s',
    async (channel) => {
      const { deliver, sent, posted, fetched } = link({ channel, hasSocket: true, endpoint: ENDPOINT });
      expect(await deliver()).toEqual({ kind: 'written' });
      expect(sent).toMatchObject([{ type: 'job_assign', job_id: 'job-1', attempt_id: 1, audio: 'YWJj' }]);
      expect(posted).toEqual([]);
      expect(await fetched()).toEqual([]);
    },
  );

  it.each<[CallResult, object]>([
    [{ kind: 'taken' }, { kind: 'written', isApart: true }],
    [
      { kind: 'overloaded', reason: '429' },
      { kind: 'overloaded', reason: '429' },
    ],
    [
      { kind: 'declined', reason: 'ECONNREFUSED' },
      { kind: 'declined', reason: 'ECONNREFUSED' },
    ],
    [
      { kind: 'unreachable', reason: 'reset' },
      { kind: 'unknown', reason: 'reset' },
    ],
    [
      { kind: 'forbidden', reason: 'network' },
      { kind: 'undeliverable', reason: 'network' },
    ],
  ])('is its endpoint, whose answer %o counts', async (answer, delivery) => {
    const { deliver, posted } = link({ channel: 'endpoint', endpoint: ENDPOINT }, answer);
    expect(await deliver()).toEqual(delivery);
    expect(posted).toMatchObject([{ url: ENDPOINT, body: { type: 'job_assign' }, timeoutMs: 2_000 }]);
  });

  it.each([
    ['its socket', { channel: 'socket', hasSocket: true }],
    ['its endpoint', { channel: 'endpoint', endpoint: ENDPOINT }],
    ['its mailbox', { channel: 'mailbox' }],
  ] as const)('through %s refers to held audio, if the node fetches', async (_way, node) => {
    const got = async (supports: readonly NodeExtension[]) => {
      const { deliver, sent, posted, fetched } = link({ ...node, supports });
      await deliver();
      return [...sent, ...posted.map(({ body }) => body), ...(await fetched()).map(({ body }) => body)];
    };
    expect(await got(['audio_ref'])).toMatchObject([
      { audio: '', audio_ref: { url: 'http://here/job-1', token: 'token-1', bytes: 3 } },
    ]);
    const [inline] = await got(['job_ack']);
    expect(inline).toMatchObject({ audio: 'YWJj' });
    expect(inline).not.toHaveProperty('audio_ref');
  });

  it('gives an endpoint no more time than the assignment has', async () => {
    const { deliver, posted } = link({ channel: 'endpoint', endpoint: ENDPOINT });
    await deliver(300);
    expect(posted[0]?.timeoutMs).toBe(300);
  });

  it('does not exist for reasons that are told apart', async () => {
    const reasonOf = async ({ deliver }: ReturnType<typeof link>, lifeMs?: number) => {
      const delivery = await deliver(lifeMs);
      return delivery.kind === 'undeliverable' && delivery.reason;
    };
    expect(await reasonOf(link(undefined))).toBe('unknown_node');
    expect(await reasonOf(link({ channel: 'socket' }))).toBe('no_connection');
    expect(await reasonOf(link({ channel: 'endpoint' }))).toBe('no_endpoint');
    expect(await reasonOf(link({ channel: 'mailbox' }), 0)).toBe('expired');
    const full = link({ channel: 'mailbox' });
    await full.deliver();
    expect(await reasonOf(full)).toBe('mailbox_full');
    const deaf = link({ channel: 'socket', hasSocket: true });
    deaf.audio.drop('job-1');
    expect(await reasonOf(deaf)).toBe('audio_lost');
  });
});

describe('a cancellation', () => {
  it('is posted only to endpoints that say they understand it', async () => {
    const plain = link({ channel: 'endpoint', endpoint: ENDPOINT });
    plain.nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(plain.posted).toEqual([]);
    const modern = link({ channel: 'endpoint', endpoint: ENDPOINT, supports: ['cancel_ack'] });
    modern.nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(modern.posted).toMatchObject([{ body: { type: 'job_cancel', job_id: 'job-1' } }]);
  });

  it('never fails, whatever the mailbox does', async () => {
    const { nodeLink, mailbox, log } = link({ channel: 'mailbox' });
    mailbox.drop = () => Promise.reject(new Error('store down'));
    nodeLink.cancel('node-a', 'job-1', 'cancelled');
    nodeLink.cancel('node-b', 'job-1', 'cancelled');
    await new Promise(setImmediate);
    expect(log.lines.length).toBeGreaterThan(0);
  });
});
