/** When acknowledgements of messages are sent, and which of them share a command. */
import { describe, expect, it } from 'vitest';
import { createAckBatcher } from '../../../src/cluster/messaging/ack-batcher.ts';
import { times } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { fine, startReader } from './inbox-reader-rig.ts';

const WAIT_MS = 50;

function start(most?: number) {
  const clock = createManualClock();
  const commands: (readonly string[])[] = [];
  const settled: string[] = [];
  const acks = createAckBatcher({
    clock,
    waitMs: WAIT_MS,
    most,
    async ack(messageIds) {
      commands.push(messageIds);
    },
    settled: (messageIds, fault) =>
      void settled.push(...messageIds, ...(fault === undefined ? [] : ['failed'])),
  });
  return { clock, commands, settled, acks };
}

describe('the acknowledgement batcher', () => {
  it('sends acknowledgements together, a fixed time after the first', async () => {
    const { clock, commands, settled, acks } = start();
    acks.add('1');
    await clock.advance(WAIT_MS - 1);
    acks.add('2');
    expect(commands).toEqual([]);
    await clock.advance(1);
    expect(commands).toEqual([['1', '2']]);
    expect(settled).toEqual(['1', '2']);
    acks.add('3');
    await clock.advance(WAIT_MS);
    expect(commands).toEqual([['1', '2'], ['3']]);
  });

  it('sends at once at 256 acknowledgements, on flush and after hurry', async () => {
    const { clock, commands, acks } = start();
    for (const messageId of times(256, String)) acks.add(messageId);
    await clock.advance(0);
    acks.add('flushed');
    acks.flush();
    await clock.advance(0);
    acks.hurry();
    acks.add('hurried');
    await clock.advance(0);
    expect(commands.map((messageIds) => messageIds.length)).toEqual([256, 1, 1]);
    await clock.advance(WAIT_MS);
    expect(commands).toHaveLength(3);
  });

  it('I11 bounded: sends at once at the configured number', async () => {
    const { clock, commands, acks } = start(12);
    for (const messageId of times(12, String)) acks.add(messageId);
    await clock.advance(0);
    expect(commands).toEqual([times(12, String)]);
  });
});

describe('an inbox reader whose acknowledgements wait', () => {
  it('sends them before it stops, without waiting for the timer', async () => {
    const { inbox, reader, clock, send, isEmpty } = await startReader(fine, {
      settings: { ackAfterMs: 60_000 },
    });
    await send('a:1', 'b:2');
    expect((await inbox.size('me')).delivered).toBe(2);
    const stopping = reader.stop();
    await clock.advance(0);
    await stopping;
    expect(await isEmpty()).toBe(true);
  });

  it('recognizes a message whose acknowledgement was lost, and acknowledges it again', async () => {
    let losses = 1;
    const { seen, send, isEmpty, clock } = await startReader(fine, {
      settings: { ackAfterMs: 1_000 },
      wrap: (inner) => ({
        ...inner,
        ack: (...args) => (losses-- > 0 ? Promise.reject(new Error('lost')) : inner.ack(...args)),
      }),
    });
    await send('a:1', 'b:2');
    await clock.advance(60_000);
    expect([seen, await isEmpty()]).toEqual([['a:1', 'b:2'], true]);
  });

  it('sends them when they take all the room for new messages', async () => {
    const { seen, send, isEmpty, clock } = await startReader(fine, {
      settings: { ackAfterMs: 60_000, maxHandling: 2 },
    });
    await send(...times(5, (at) => `${at}:x`));
    await clock.advance(0);
    expect(seen).toHaveLength(5);
    await clock.advance(60_000);
    expect(await isEmpty()).toBe(true);
  });
});
