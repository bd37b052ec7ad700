/** Slots of jobs that go to a node's mailbox: they last once the job is fetched, and do not if it is given up without a word of its node. */
import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeChannel } from '../../../src/domain/node.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import { createNodeLink, type NodeLinkSettings } from '../../../src/transport/link/node-link.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeLog } from '../ws/fakes.ts';
import { job } from './jobs.ts';

const RESERVED_MS = 5_000;
const SLOTS = { fetchedMs: 65_000, unacknowledgedMs: RESERVED_MS };

async function startLink(settings: Pick<NodeLinkSettings, 'slots'> = { slots: SLOTS }) {
  const clock = createManualClock();
  const ledger = createCapacityLedger({ clock });
  const mailbox = createNodeMailbox<JobAssign>({ clock, maxPerNode: 1, slots: ledger });
  const state = { channel: 'mailbox' as NodeChannel };
  const audio = createAudioStore({ maxBytes: 100, maxBytesPerJob: 100 });
  audio.put('job-1', Buffer.from('abc'));
  const log = createFakeLog();
  const profile = { isLegacy: false, supports: ['job_ack'] };
  const nodeLink = createNodeLink({
    clock,
    mailbox,
    audio,
    references: { refer: () => undefined },
    log,
    sockets: { send: () => false },
    find: () => ({ channel: state.channel, view: { nodeId: 'node-a', profile } }) as unknown as NodeStatus,
    settings: { endpointTimeoutMs: 2_000, ...settings },
  });
  await ledger.declare('node-a', { slots: 2, isAccepting: true });
  ledger.reserve('node-a', 'job-1:1', RESERVED_MS);
  const deliver = () =>
    nodeLink.deliver({ nodeId: 'node-a', attempt: 1, job: job(), expiresAt: clock.now() + 3_000 });
  const fetched = () => mailbox.take('node-a', { max: 10, waitMs: 0 });
  const used = async () => (await ledger.loads(['node-a'])).get('node-a')?.used;
  return { clock, nodeLink, mailbox, deliver, fetched, used, state, log };
}

describe('the slot of a job in a mailbox', () => {
  it('lasts as long as a job may run, once it is fetched', async () => {
    const { deliver, fetched, used, clock } = await startLink();
    expect(await deliver()).toEqual({ kind: 'queued', isLasting: true });
    expect(await fetched()).toHaveLength(1);
    await clock.advance(SLOTS.fetchedMs - 1);
    expect(await used()).toBe(1);
    await clock.advance(1);
    expect(await used()).toBe(0);
  });

  it('is left as it is where nobody asks for more', async () => {
    const { deliver, fetched, used, clock, nodeLink } = await startLink({});
    expect(await deliver()).toEqual({ kind: 'queued' });
    nodeLink.giveUp?.('node-a', 'job-1', 1);
    expect(await fetched()).toHaveLength(1);
    await clock.advance(RESERVED_MS);
    expect(await used()).toBe(0);
  });

  it('I2 no leak: ends as one that is only reserved, if the job was fetched and is given up without a word', async () => {
    const { deliver, fetched, used, clock, nodeLink } = await startLink();
    await deliver();
    await fetched();
    nodeLink.giveUp?.('node-a', 'job-1', 1);
    await clock.advance(RESERVED_MS - 1);
    expect(await used()).toBe(1);
    await clock.advance(1);
    expect(await used()).toBe(0);
  });

  it('is not touched for another attempt, nor if the node is reached otherwise by now', async () => {
    const { deliver, fetched, used, clock, nodeLink, state } = await startLink();
    await deliver();
    await fetched();
    nodeLink.giveUp?.('node-a', 'job-1', 2);
    state.channel = 'socket';
    nodeLink.giveUp?.('node-a', 'job-1', 1);
    await clock.advance(RESERVED_MS);
    expect(await used()).toBe(1);
  });

  it('is said to last too long if the mailbox cannot be asked', async () => {
    const { nodeLink, mailbox, clock, log } = await startLink();
    mailbox.drop = () => Promise.reject(new Error('away'));
    nodeLink.giveUp?.('node-a', 'job-1', 1);
    await clock.advance(1);
    expect(log.lines).toMatchObject([{ fields: { node_id: 'node-a', job_id: 'job-1' } }]);
  });

  it('takes the job back that nobody has fetched', async () => {
    const { deliver, fetched, nodeLink } = await startLink();
    await deliver();
    nodeLink.giveUp?.('node-a', 'job-1', 1);
    expect(await fetched()).toEqual([]);
  });
});
