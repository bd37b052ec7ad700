/** Confirmations of messages: when they are sent, and which of them together. */
import { describe, expect, it } from 'vitest';
import { createConfirmations } from '../../src/cluster/messaging/ack-batcher.ts';
import { times } from '../contracts/harness.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { fine, startReader } from './inbox-reader-rig.ts';

const WAIT_MS = 50;

function start(most?: number) {
  const clock = createManualClock();
  const commands: (readonly string[])[] = [];
  const settled: string[] = [];
  const confirmations = createConfirmations({
    clock,
    waitMs: WAIT_MS,
    most,
    async confirm(messageIds) {
      commands.push(messageIds);
    },
    settled: (messageIds, fault) =>
      void settled.push(...messageIds, ...(fault === undefined ? [] : ['in vain'])),
  });
  return { clock, commands, settled, confirmations };
}

describe('confirmations', () => {
  it('wait a moment for others, counted from the first', async () => {
    const { clock, commands, settled, confirmations } = start();
    confirmations.add('1');
    await clock.advance(WAIT_MS - 1);
    confirmations.add('2');
    expect(commands).toEqual([]);
    await clock.advance(1);
    expect(commands).toEqual([['1', '2']]);
    expect(settled).toEqual(['1', '2']);
    confirmations.add('3');
    await clock.advance(WAIT_MS);
    expect(commands).toEqual([['1', '2'], ['3']]);
  });

  it('are sent at once when they are many, when told to, and when nothing may wait any more', async () => {
    const { clock, commands, confirmations } = start();
    for (const messageId of times(256, String)) confirmations.add(messageId);
    await clock.advance(0);
    confirmations.add('flushed');
    confirmations.flush();
    await clock.advance(0);
    confirmations.hurry();
    confirmations.add('hurried');
    await clock.advance(0);
    expect(commands.map((messageIds) => messageIds.length)).toEqual([256, 1, 1]);
    await clock.advance(WAIT_MS);
    expect(commands).toHaveLength(3);
  });

  it('go along with what is written anyway, and then ask for no command of their own', async () => {
    const { clock, commands, settled, confirmations } = start();
    expect(confirmations.goAlong()).toBeUndefined();
    confirmations.add('1');
    confirmations.add('2');
    const along = confirmations.goAlong();
    expect([along?.messageIds, settled, confirmations.goAlong()]).toEqual([['1', '2'], [], undefined]);
    await clock.advance(WAIT_MS);
    along?.settle();
    expect([commands, settled, clock.pending()]).toEqual([[], ['1', '2'], 0]);
    confirmations.add('3');
    confirmations.goAlong()?.settle(new Error('away'));
    expect(settled).toEqual(['1', '2', '3', 'in vain']);
    confirmations.add('4');
    await clock.advance(WAIT_MS);
    expect(commands).toEqual([['4']]);
  });

  it('go along as many as fit into a command, and the others wait as before', async () => {
    const { clock, commands, confirmations } = start(1_000);
    for (const messageId of times(300, String)) confirmations.add(messageId);
    expect(confirmations.goAlong()?.messageIds).toEqual(times(256, String));
    await clock.advance(WAIT_MS);
    expect(commands).toEqual([times(44, (at) => String(256 + at))]);
  });

  it('I11 bounded: are sent at once when they are as many as the inbox bears', async () => {
    const { clock, commands, confirmations } = start(12);
    for (const messageId of times(12, String)) confirmations.add(messageId);
    await clock.advance(0);
    expect(commands).toEqual([times(12, String)]);
  });
});

describe('a reader whose confirmations wait', () => {
  it('does not stop before they are sent, nor wait for their time', async () => {
    const { inbox, reader, clock, send, isEmpty } = await startReader(fine, {
      settings: { confirmMs: 60_000 },
    });
    await send('a:1', 'b:2');
    expect((await inbox.size('me')).handedOut).toBe(2);
    const stopping = reader.stop();
    await clock.advance(0);
    await stopping;
    expect(await isEmpty()).toBe(true);
  });

  it('hands them to whoever writes anyway; one that was not confirmed so comes again, is known, and is confirmed then', async () => {
    const { inbox, reader, clock, seen, send, isEmpty } = await startReader(fine, {
      settings: { confirmMs: 60_000 },
    });
    await send('a:1', 'b:2');
    const along = reader.goAlong();
    expect(along?.messageIds).toHaveLength(2);
    // Meanwhile they are under way, however long that takes.
    await clock.advance(20_000);
    expect([seen, reader.handling()]).toEqual([['a:1', 'b:2'], 2]);
    along?.settle(new Error('away'));
    expect(reader.handling()).toBe(0);
    await clock.advance(10_000);
    const again = reader.goAlong();
    await inbox.confirm('me', again?.messageIds ?? []);
    again?.settle();
    expect([seen, reader.handling(), await isEmpty()]).toEqual([['a:1', 'b:2'], 0, true]);
  });

  it('sends them when they are all that keeps it from reading on', async () => {
    const { seen, send, isEmpty, clock } = await startReader(fine, {
      settings: { confirmMs: 60_000, maxHandling: 2 },
    });
    await send(...times(5, (at) => `${at}:x`));
    await clock.advance(0);
    expect(seen).toHaveLength(5);
    await clock.advance(60_000);
    expect(await isEmpty()).toBe(true);
  });
});
