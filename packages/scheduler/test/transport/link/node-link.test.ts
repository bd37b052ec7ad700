import type { JobAssign, SchedulerToNode } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeChannel } from '../../../src/domain/node.ts';
import type { NodeExtension } from '../../../src/domain/profile.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import type { CallResult } from '../../../src/ports/endpoint-caller.ts';
import { createNodeLink } from '../../../src/transport/link/node-link.ts';
import { createFakeLog } from '../ws/fakes.ts';
import { createSteppedClock } from '../ws/stepped-clock.ts';
import { job } from './jobs.ts';

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
    view: { nodeId: 'node-a', profile: { isDeployed: false, supports: node.supports ?? [] } },
  };
  const log = createFakeLog();
  const nodeLink = createNodeLink({
    clock,
    mailbox,
    audio,
    log,
    sockets: { send: (_, message) => node?.hasSocket === true && sent.push(message) > 0 },
    registry: { get: () => status as NodeStatus | undefined },
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

  it('does not exist for a node whose socket is gone', async () => {
    expect(await link({ channel: 'socket' }).deliver()).toEqual({
      kind: 'undeliverable',
      reason: 'no_connection',
    });
  });

  it('does not exist for a node nobody knows', async () => {
    expect(await link(undefined).deliver()).toEqual({ kind: 'undeliverable', reason: 'unknown_node' });
  });

  it.each<[CallResult, object]>([
    [{ kind: 'taken' }, { kind: 'written' }],
    [
      { kind: 'overloaded', reason: '429' },
      { kind: 'overloaded', reason: '429' },
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

  it('gives an endpoint no more time than the assignment has', async () => {
    const { deliver, posted } = link({ channel: 'endpoint', endpoint: ENDPOINT });
    await deliver(300);
    expect(posted[0]?.timeoutMs).toBe(300);
  });

  it('does not exist when the endpoint is not known', async () => {
    expect(await link({ channel: 'endpoint' }).deliver()).toEqual({
      kind: 'undeliverable',
      reason: 'no_endpoint',
    });
  });

  it('is its mailbox, which is bounded', async () => {
    const { deliver, fetched } = link({ channel: 'mailbox' });
    expect(await deliver()).toEqual({ kind: 'queued' });
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'mailbox_full' });
    expect(await fetched()).toMatchObject([{ jobId: 'job-1', body: { type: 'job_assign' } }]);
  });

  it.each(['socket', 'endpoint', 'mailbox'] as const)(
    'never carries an expired assignment: %s',
    async (channel) => {
      const { deliver, sent, posted } = link({
        channel,
        hasSocket: channel === 'socket',
        endpoint: ENDPOINT,
      });
      expect(await deliver(0)).toEqual({ kind: 'undeliverable', reason: 'expired' });
      expect([sent, posted]).toEqual([[], []]);
    },
  );

  it('carries no job whose audio is held no more', async () => {
    const { deliver, audio, sent } = link({ channel: 'socket', hasSocket: true });
    audio.drop('job-1');
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'audio_lost' });
    expect(sent).toEqual([]);
  });
});

describe('a cancellation', () => {
  it('is told over the socket', () => {
    const { nodeLink, sent } = link({ channel: 'socket', hasSocket: true });
    nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(sent).toEqual([{ type: 'job_cancel', job_id: 'job-1', reason: 'cancelled' }]);
  });

  it('takes the job out of the mailbox', async () => {
    const { nodeLink, deliver, fetched } = link({ channel: 'mailbox' });
    await deliver();
    nodeLink.cancel('node-a', 'job-1', 'cancelled');
    expect(await fetched()).toEqual([]);
  });

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
