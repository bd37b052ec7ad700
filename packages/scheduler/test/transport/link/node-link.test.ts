/** The link to a node by socket, endpoint or mailbox: the law of the port, which of them is used, and the commit before the hand-over. */
import type { JobAssign, JobCancel, SchedulerToNode } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeChannel } from '../../../src/domain/node.ts';
import type { NodeExtension } from '../../../src/domain/profile.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import type { CapacityLedger, CommitResult } from '../../../src/ports/capacity-ledger.ts';
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
const COMMITTED_MS = 65_000;
const COMMITTED: CommitResult = { kind: 'committed', used: 1, max: 1 };

/** `commit`: replaces the commit of the ledger, where a job that is delivered holds a lease otherwise. */
function link(
  node: Node | undefined,
  answer: CallResult = { kind: 'taken' },
  commit?: CapacityLedger['commit'],
) {
  const clock = createSteppedClock();
  const ledger = createCapacityLedger({ clock });
  void ledger.declare('node-a', { slots: 1, isAccepting: true });
  ledger.reserve('node-a', 'job-1:1', 8_000);
  const mailbox = createNodeMailbox<JobAssign | JobCancel>({ clock, ledger, maxPerNode: 1 });
  const audio = createAudioStore({ maxBytes: 100, maxBytesPerJob: 100 });
  audio.put('job-1', 'acme', Buffer.from('abc'));
  const sent: SchedulerToNode[] = [];
  const posted: { url: string; body: SchedulerToNode; timeoutMs: number }[] = [];
  const status = node && {
    channel: node.channel,
    ...(node.endpoint !== undefined && { endpoint: node.endpoint }),
    view: { nodeId: 'node-a', profile: { isLegacy: false, supports: node.supports ?? [] } },
  };
  const log = createFakeLog();
  const state = { hasSocket: node?.hasSocket === true };
  const nodeLink = createNodeLink({
    clock,
    ledger: { commit: commit ?? ledger.commit },
    mailbox,
    audio,
    references: {
      refer: (jobId, { length: bytes }) => ({ url: `http://here/${jobId}`, token: 'token-1', bytes }),
      open: (message) => message,
    },
    log,
    sockets: {
      isConnected: () => state.hasSocket,
      send: (_, message) => state.hasSocket && sent.push(message) > 0,
    },
    find: () => status as NodeStatus | undefined,
    endpoints: {
      permits: () => true,
      async post(url, body, timeoutMs) {
        posted.push({ url, body: JSON.parse(body), timeoutMs });
        return answer;
      },
    },
    settings: { endpointTimeoutMs: 2_000, committedMs: COMMITTED_MS },
  });
  const deliver = (expiresInMs = 5_000) =>
    nodeLink.deliver({ nodeId: 'node-a', attempt: 1, job: job(), expiresAt: clock.now() + expiresInMs });
  const fetched = () => mailbox.take('node-a', { max: 10, waitMs: 0 });
  return { nodeLink, deliver, fetched, sent, posted, audio, mailbox, ledger, clock, log, state };
}

describe('the link to a node', () => {
  it.each(['socket', 'endpoint', 'mailbox'] as const)(
    'writes to an open socket, also if the channel is %s',
    async (channel) => {
      const { deliver, sent, posted, fetched } = link({ channel, hasSocket: true, endpoint: ENDPOINT });
      expect(await deliver()).toEqual({ kind: 'written' });
      expect(sent).toMatchObject([{ type: 'job_assign', job_id: 'job-1', attempt_id: 1, audio: 'YWJj' }]);
      expect(posted).toEqual([]);
      expect(await fetched()).toEqual([]);
    },
  );

  it.each<[CallResult, object]>([
    [{ kind: 'taken' }, { kind: 'written', isOutOfBand: true }],
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
  ])('calls the endpoint and reports its answer %o', async (answer, delivery) => {
    const { deliver, posted } = link({ channel: 'endpoint', endpoint: ENDPOINT }, answer);
    expect(await deliver()).toEqual(delivery);
    expect(posted).toMatchObject([{ url: ENDPOINT, body: { type: 'job_assign' }, timeoutMs: 2_000 }]);
  });

  it.each([
    ['its socket', { channel: 'socket', hasSocket: true }],
    ['its endpoint', { channel: 'endpoint', endpoint: ENDPOINT }],
    ['its mailbox', { channel: 'mailbox' }],
  ] as const)('by %s refers to held audio, if the node fetches', async (_way, node) => {
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

  it('gives an endpoint no more time than the assignment has left', async () => {
    const { deliver, posted } = link({ channel: 'endpoint', endpoint: ENDPOINT });
    await deliver(300);
    expect(posted[0]?.timeoutMs).toBe(300);
  });

  it('reports why a job is undeliverable', async () => {
    const reasonOf = async ({ deliver }: ReturnType<typeof link>, ttlMs?: number) => {
      const delivery = await deliver(ttlMs);
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

const WAYS = [
  ['a socket', { channel: 'socket', hasSocket: true }],
  ['the socket of a node that polls', { channel: 'mailbox', hasSocket: true }],
  ['an endpoint', { channel: 'endpoint', endpoint: ENDPOINT }],
] as const;

describe.each(WAYS)('the commit before the hand-over to %s', (_way, node) => {
  /** A link whose ledger answers when the test says so. */
  function startCommitting() {
    let resolve: (answer: CommitResult) => void = () => {};
    let reject: (fault: Error) => void = () => {};
    const promise = new Promise<CommitResult>((...settle) => {
      [resolve, reject] = settle;
    });
    const commits: unknown[][] = [];
    const started = link(node, { kind: 'taken' }, (...call) => {
      commits.push(call);
      return promise;
    });
    const handed = () => [...started.sent, ...started.posted];
    return { ...started, commits, handed, resolve, reject };
  }

  it('hands nothing over before the commit is answered', async () => {
    const { deliver, commits, handed, resolve } = startCommitting();
    const delivering = deliver();
    await new Promise(setImmediate);
    expect(commits).toEqual([['node-a', 'job-1:1', COMMITTED_MS]]);
    expect(handed()).toEqual([]);
    resolve(COMMITTED);
    expect(await delivering).toMatchObject({ kind: 'written' });
    expect(handed()).toHaveLength(1);
    expect(commits).toHaveLength(1);
  });

  it('hands nothing over when the commit fails', async () => {
    const { deliver, handed, reject, log } = startCommitting();
    const delivering = deliver();
    reject(new Error('no answer'));
    expect(await delivering).toEqual({ kind: 'undeliverable', reason: 'lease_unknown' });
    expect(handed()).toEqual([]);
    expect(log.lines).toMatchObject([{ fields: { node_id: 'node-a', job_id: 'job-1', attempt_id: 1 } }]);
  });

  it.each<CommitResult>([
    { kind: 'absent', used: 0, max: 1 },
    { kind: 'abandoned', used: 1, max: 1 },
    { kind: 'full', used: 1, max: 1 },
    { kind: 'unknown_node' },
  ])('hands nothing over when the answer is $kind', async (answer) => {
    const { deliver, handed, resolve } = startCommitting();
    const delivering = deliver();
    resolve(answer);
    expect(await delivering).toEqual({ kind: 'undeliverable', reason: `lease_${answer.kind}` });
    expect(handed()).toEqual([]);
  });

  it('does not hand over after the assignment expired during the commit', async () => {
    const { deliver, handed, resolve, clock } = startCommitting();
    const delivering = deliver(3_000);
    clock.advance(3_000);
    resolve(COMMITTED);
    expect(await delivering).toEqual({ kind: 'undeliverable', reason: 'expired' });
    expect(handed()).toEqual([]);
  });

  it('hands over just before the assignment expires', async () => {
    const { deliver, handed, posted, resolve, clock } = startCommitting();
    const delivering = deliver(3_000);
    clock.advance(2_999);
    resolve(COMMITTED);
    expect(await delivering).toMatchObject({ kind: 'written' });
    expect(handed()).toHaveLength(1);
    // An endpoint gets only the time that is left after the commit.
    for (const { timeoutMs } of posted) expect(timeoutMs).toBe(1);
  });
});

describe('the commit of a lease', () => {
  it('is not sent for a job that goes into a mailbox', async () => {
    const commits: unknown[] = [];
    const { deliver, fetched, ledger } = link({ channel: 'mailbox' }, { kind: 'taken' }, (...call) => {
      commits.push(call);
      return COMMITTED;
    });
    expect(await deliver()).toEqual({ kind: 'queued' });
    expect(commits).toEqual([]);
    expect(await fetched()).toMatchObject([{ slot: { lease: 'job-1:1', ttlMs: COMMITTED_MS } }]);
    expect(ledger.commit('node-a', 'job-1:1', 1)).toMatchObject({ kind: 'committed' });
  });

  it.each([
    ['the assignment has expired', { channel: 'socket', hasSocket: true }, 0],
    ['no socket is open', { channel: 'socket' }, 5_000],
    ['the node is unknown', undefined, 5_000],
  ] as const)('is not sent if %s', async (_why, node, ttlMs) => {
    const commits: unknown[] = [];
    const { deliver } = link(node, { kind: 'taken' }, (...call) => {
      commits.push(call);
      return COMMITTED;
    });
    expect(await deliver(ttlMs)).toMatchObject({ kind: 'undeliverable' });
    expect(commits).toEqual([]);
  });

  it('is followed by no hand-over if the socket closed meanwhile', async () => {
    const started = link({ channel: 'mailbox', hasSocket: true }, { kind: 'taken' }, async () => COMMITTED);
    const delivering = started.deliver();
    started.state.hasSocket = false;
    expect(await delivering).toEqual({ kind: 'undeliverable', reason: 'no_connection' });
    expect(started.sent).toEqual([]);
    expect(await started.fetched()).toEqual([]);
  });

  it('is followed by a call of the endpoint if the socket closed meanwhile', async () => {
    const node = { channel: 'endpoint', hasSocket: true, endpoint: ENDPOINT } as const;
    const started = link(node, { kind: 'taken' }, async () => COMMITTED);
    const delivering = started.deliver();
    started.state.hasSocket = false;
    expect(await delivering).toMatchObject({ kind: 'written' });
    expect(started.posted).toHaveLength(1);
  });
});

describe('a cancellation', () => {
  it('is posted only to endpoints that support it', async () => {
    const plain = link({ channel: 'endpoint', endpoint: ENDPOINT });
    plain.nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(plain.posted).toEqual([]);
    const modern = link({ channel: 'endpoint', endpoint: ENDPOINT, supports: ['cancel_ack'] });
    modern.nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(modern.posted).toMatchObject([{ body: { type: 'job_cancel', job_id: 'job-1' } }]);
  });

  it('does not fail when the mailbox fails', async () => {
    const { nodeLink, mailbox, log } = link({ channel: 'mailbox' });
    mailbox.drop = () => Promise.reject(new Error('Redis is down'));
    nodeLink.cancel('node-a', 'job-1', 'cancelled');
    nodeLink.cancel('node-b', 'job-1', 'cancelled');
    await new Promise(setImmediate);
    expect(log.lines.length).toBeGreaterThan(0);
  });
});
