/** Messages in lanes: in order within a lane, concurrent across lanes, and bounded. */
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../../../src/ports/inbox.ts';
import { fine, SETTINGS, startReader } from './inbox-reader-rig.ts';

/** Handlers that end when the test says so. */
function createGates() {
  const open = new Map<string, (outcome?: Error) => void>();
  return {
    handle: (body: string) =>
      new Promise<void>((resolve, reject) => {
        open.set(body, (fault) => (fault === undefined ? resolve() : reject(fault)));
      }),
    end(body: string, fault?: Error): void {
      const settle = open.get(body);
      if (settle === undefined) throw new Error(`${body} is not being handled`);
      open.delete(body);
      settle(fault);
    },
    atWork: () => [...open.keys()],
  };
}

describe('the lanes of an inbox', () => {
  it('run concurrently, each in order', async () => {
    const gates = createGates();
    const { clock, send, isEmpty } = await startReader(gates.handle);
    await send('a:1', 'a:2', 'b:1', 'a:3', 'b:2');
    await clock.advance(10);
    expect(gates.atWork()).toEqual(['a:1', 'b:1']);
    gates.end('b:1');
    await clock.advance(0);
    expect(gates.atWork()).toEqual(['a:1', 'b:2']);
    for (const body of ['a:1', 'a:2', 'b:2', 'a:3']) {
      gates.end(body);
      await clock.advance(10);
    }
    expect(await isEmpty()).toBe(true);
  });

  it('let a handler wait for a reply further behind', async () => {
    let answer: (() => void) | undefined;
    const { clock, send, seen, isEmpty } = await startReader(
      (body) => {
        if (body === 'reply:1') answer?.();
        return body === 'ask:1' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve();
      },
      { settings: { maxMessages: 1 } },
    );
    await send('ask:1', 'ask:2', 'reply:1');
    await clock.advance(100);
    expect(seen).toEqual(['ask:1', 'reply:1', 'ask:2']);
    expect(await isEmpty()).toBe(true);
  });

  it('mark retried messages as delivered before', async () => {
    const opened: boolean[] = [];
    const { clock, send } = await startReader(async (_, wasOpened) => {
      opened.push(wasOpened);
      if (!wasOpened) throw new Error('the answer could not be sent');
    });
    await send('a:1');
    await clock.advance(4 * SETTINGS.scanIntervalMs);
    expect(opened).toEqual([false, true]);
  });

  it('continue behind a failed message', async () => {
    let failures = 1;
    const { clock, send, seen, isEmpty } = await startReader(async (body) => {
      if (body === 'a:bad' && failures-- > 0) throw new Error('not now');
    });
    await send('a:bad', 'a:2', 'a:3');
    await clock.advance(10);
    expect(seen).toEqual(['a:bad', 'a:2', 'a:3']);
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['a:bad', 'a:2', 'a:3', 'a:bad']);
    expect(await isEmpty()).toBe(true);
  });

  it('put retried messages before newer waiting ones', async () => {
    const gates = createGates();
    const { clock, send, seen } = await startReader(gates.handle);
    await send('a:1', 'a:2', 'a:3');
    for (const body of ['a:1', 'a:2']) {
      gates.end(body, new Error('not now'));
      await clock.advance(0);
    }
    await send('a:4', 'a:5');
    // a:3 is slow, so that failed messages meet new ones.
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    for (const body of ['a:3', 'a:1', 'a:2', 'a:4', 'a:5']) {
      expect(gates.atWork()).toEqual([body]);
      gates.end(body);
      await clock.advance(0);
    }
    expect(seen).toEqual(['a:1', 'a:2', 'a:3', 'a:1', 'a:2', 'a:4', 'a:5']);
  });

  it('do not redeliver a message that is slow to handle', async () => {
    const gates = createGates();
    const { clock, inbox, send, seen, counts } = await startReader(gates.handle);
    await send('a:slow', 'a:behind');
    await clock.advance(20 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['a:slow']);
    expect(counts.size).toBe(0);
    gates.end('a:slow');
    await clock.advance(10);
    gates.end('a:behind');
    await clock.advance(10);
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
  });

  it('never handle one message twice at a time', async () => {
    const gates = createGates();
    const wrap = (inner: Inbox): Inbox => ({
      ...inner,
      takeAgain: (instanceId, { max, idleMs }) => inner.takeAgain(instanceId, { max, idleMs }),
    });
    const { clock, send, seen, isEmpty } = await startReader(gates.handle, { wrap });
    await send('a:slow');
    await clock.advance(2 * SETTINGS.scanIntervalMs);
    gates.end('a:slow');
    await clock.advance(10);
    expect(seen).toEqual(['a:slow']);
    expect(await isEmpty()).toBe(true);
  });

  it('pass a message without a readable lane to the handler', async () => {
    const { clock, send, seen, isEmpty } = await startReader(fine, {
      laneOf: () => {
        throw new Error('garbage');
      },
    });
    await send('?');
    await clock.advance(10);
    expect(seen).toEqual(['?']);
    expect(await isEmpty()).toBe(true);
  });

  it('I11 bounded: reading pauses at the limit of messages under way', async () => {
    const gates = createGates();
    const { clock, inbox, reader, send, stuck } = await startReader(gates.handle, {
      settings: { maxHandling: 12, maxMessages: 10 },
    });
    await send(...Array.from({ length: 30 }, (_, index) => `${index}:x`));
    await clock.advance(10 * SETTINGS.scanIntervalMs);
    expect(gates.atWork()).toHaveLength(12);
    expect(reader.handling()).toBe(12);
    expect((await inbox.size('me')).delivered).toBe(12);
    // A reader that waits for room is not stuck.
    expect(stuck()).toBe(0);
    gates.end('0:x');
    await clock.advance(10);
    expect(gates.atWork()).toHaveLength(12);
    while (gates.atWork().length > 0) {
      for (const body of gates.atWork()) gates.end(body);
      await clock.advance(10);
    }
    expect(await inbox.size('me')).toEqual({ messages: 0, delivered: 0, dead: 0 });
    expect(reader.handling()).toBe(0);
  });

  it('takes no more stuck messages than there is room for', async () => {
    const gates = createGates();
    const requested: number[] = [];
    const wrap = (inner: Inbox): Inbox => ({
      ...inner,
      takeAgain(instanceId, limits) {
        requested.push(limits.max);
        return inner.takeAgain(instanceId, limits);
      },
    });
    const settings = { maxHandling: 3, scanCount: 2 };
    const { clock, send } = await startReader(gates.handle, { wrap, settings });
    await clock.advance(SETTINGS.scanIntervalMs);
    await send('a:1', 'b:1');
    await clock.advance(SETTINGS.scanIntervalMs);
    await send('c:1');
    await clock.advance(3 * SETTINGS.scanIntervalMs);
    expect(requested).toEqual([2, 1]);
  });
});

describe('acknowledgements', () => {
  it('of messages that end together share commands of 256', async () => {
    const sizes: number[] = [];
    const wrap = (inner: Inbox): Inbox => ({
      ...inner,
      ack(instanceId, messageIds) {
        sizes.push(messageIds.length);
        return inner.ack(instanceId, messageIds);
      },
    });
    const { clock, inbox, send, isEmpty } = await startReader(fine, { wrap, settings: { maxMessages: 700 } });
    for (let index = 0; index < 600; index += 1) void inbox.send('me', `${index}:x`);
    await clock.advance(100);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256);
    expect(sizes.length).toBeLessThanOrEqual(5);
    expect(await isEmpty()).toBe(true);
    await send('alone:1');
    await clock.advance(10);
    expect(sizes.at(-1)).toBe(1);
  });

  it('that take long neither redeliver messages nor block lanes', async () => {
    const held: (() => void)[] = [];
    const again: number[] = [];
    const wrap = (inner: Inbox): Inbox => ({
      ...inner,
      async ack(instanceId, messageIds) {
        await new Promise<void>((resolve) => held.push(resolve));
        await inner.ack(instanceId, messageIds);
      },
      async takeAgain(instanceId, limits) {
        const found = await inner.takeAgain(instanceId, limits);
        again.push(found.messages.length);
        return found;
      },
    });
    const { clock, send, seen, isEmpty } = await startReader(fine, { wrap });
    await send('a:1', 'a:2');
    await clock.advance(3 * SETTINGS.scanIntervalMs);
    expect(seen).toEqual(['a:1', 'a:2']);
    expect(again.every((count) => count === 0)).toBe(true);
    await send('b:1');
    await clock.advance(10);
    expect(seen).toContain('b:1');
    // One command at a time.
    expect(held).toHaveLength(1);
    while (held.length > 0) {
      held.pop()?.();
      await clock.advance(10);
    }
    expect(await isEmpty()).toBe(true);
  });
});
