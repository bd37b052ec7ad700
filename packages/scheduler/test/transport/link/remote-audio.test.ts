/** Audio that another instance holds: nodes that fetch get its address, other nodes get the bytes. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import { createNodeLink } from '../../../src/transport/link/node-link.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeLog } from '../ws/fakes.ts';
import { job } from './jobs.ts';

const AT = { url: 'http://other:5010/v1/audio/job-1', token: 'token-1', bytes: 6 };

function linkTo(node: { supports: string[]; isLegacy?: boolean }, fetched: Buffer | undefined | 'late') {
  const clock = createManualClock();
  const ledger = createCapacityLedger({ clock });
  const sent: JobAssign[] = [];
  const asked: number[] = [];
  const profile = { isLegacy: node.isLegacy ?? false, supports: node.supports };
  const link = createNodeLink({
    clock,
    ledger,
    log: createFakeLog(),
    mailbox: createNodeMailbox<JobAssign | JobCancel>({ clock, ledger, maxPerNode: 4 }),
    audio: createAudioStore({ maxBytes: 1_000, maxBytesPerJob: 1_000 }),
    references: { refer: () => undefined, open: (message) => message },
    sockets: { send: (_, message) => sent.push(message as JobAssign) > 0, isConnected: () => true },
    find: () => ({ channel: 'socket', view: { profile } }) as unknown as NodeStatus,
    fetcher: {
      async fetch(_, limitMs) {
        asked.push(limitMs);
        if (fetched !== 'late') return fetched;
        await clock.advance(limitMs);
        return Buffer.from('speech');
      },
    },
    settings: { endpointTimeoutMs: 1_000, committedMs: 65_000 },
  });
  const held = job({ audio: { kind: 'held', bytes: AT.bytes } });
  const deliver = async () => {
    await ledger.declare('node-a', { slots: 1, isAccepting: true });
    ledger.reserve('node-a', 'job-1:1', 5_000);
    return link.deliver({
      nodeId: 'node-a',
      attempt: 1,
      job: held,
      expiresAt: clock.now() + 3_000,
      audioAt: AT,
    });
  };
  return { deliver, sent, asked };
}

describe('audio held by another instance', () => {
  it('a node that fetches gets the address', async () => {
    const { deliver, sent, asked } = linkTo({ supports: ['audio_ref'] }, undefined);
    expect(await deliver()).toEqual({ kind: 'written' });
    expect(sent[0]).toMatchObject({ audio: '', audio_ref: AT });
    expect(asked).toEqual([]);
  });

  it('this instance fetches the audio for a node that does not', async () => {
    const { deliver, sent, asked } = linkTo({ supports: [], isLegacy: true }, Buffer.from('speech'));
    expect(await deliver()).toEqual({ kind: 'written' });
    expect(Buffer.from(sent[0]?.audio ?? '', 'base64').toString()).toBe('speech');
    expect(asked).toEqual([3_000]);
  });

  it('the job is undeliverable if the audio cannot be fetched', async () => {
    const { deliver, sent } = linkTo({ supports: [] }, undefined);
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'audio_lost' });
    expect(sent).toEqual([]);
  });

  it('audio that arrives after the assignment expired is not delivered', async () => {
    const { deliver, sent } = linkTo({ supports: [] }, 'late');
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'expired' });
    expect(sent).toEqual([]);
  });
});
