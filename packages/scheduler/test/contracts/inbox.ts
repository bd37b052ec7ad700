/** Contract of Inbox: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Inbox, InboxMessage } from '../../src/ports/inbox.ts';
import { type Closable, edgeOf, fresh, isPending, isStepped, perTest, type Timed, times } from './harness.ts';

export interface InboxLimits {
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  readonly maxDead: number;
  readonly maxDeadOfTenant: number;
  readonly minIdleToDieMs?: number;
  readonly idleMs?: number;
}

export interface InboxHarness extends Timed, Closable {
  readonly inbox: Inbox;
}

const ROOMY: InboxLimits = { maxMessages: 10_000, maxDeliveries: 3, maxDead: 100, maxDeadOfTenant: 100 };
const IDLE_MS = 100;
const AT_ONCE = { max: 1_000, waitMs: 0 };
const bodies = (messages: readonly InboxMessage[]): string[] => messages.map(({ body }) => body);
const idsOf = (messages: readonly InboxMessage[]): string[] => messages.map(({ messageId }) => messageId);

export function inboxContract(name: string, open: (limits: InboxLimits) => Promise<InboxHarness>): void {
  describe(`Inbox: ${name}`, () => {
    const startWith = perTest(open);

    async function start(limits: Partial<InboxLimits> = {}) {
      const harness = await startWith({ ...ROOMY, ...limits });
      const me = fresh('instance');
      await harness.inbox.open(me);
      const stuck = async () => {
        await harness.advance(IDLE_MS + edgeOf(harness));
        return harness.inbox.takeAgain(me, { max: 100, idleMs: IDLE_MS });
      };
      return { ...harness, me, stuck };
    }

    it('delivers messages once, in order and unchanged', async () => {
      const { inbox, me } = await start();
      const sent = ['one', '{"text":"你好 👋\\n"}', '', 'x'.repeat(100_000)];
      for (const body of sent) expect(await inbox.send(me, body)).toBe('sent');
      const messages = await inbox.take(me, AT_ONCE);
      expect(bodies(messages)).toEqual(sent);
      expect(messages.every(({ deliveries }) => deliveries === 1)).toBe(true);
      expect(await inbox.take(me, AT_ONCE)).toEqual([]);
    });

    it('delivers at most the requested number of messages', async () => {
      const { inbox, me } = await start();
      for (const body of ['a', 'b', 'c']) await inbox.send(me, body);
      expect(bodies(await inbox.take(me, { max: 2, waitMs: 0 }))).toEqual(['a', 'b']);
      expect(bodies(await inbox.take(me, { max: 2, waitMs: 0 }))).toEqual(['c']);
    });

    it('delivers each message to its own inbox only', async () => {
      const { inbox, me } = await start();
      const other = fresh('instance');
      await inbox.open(other);
      await inbox.send(me, 'mine');
      await inbox.send(other, 'theirs');
      expect(bodies(await inbox.take(other, AT_ONCE))).toEqual(['theirs']);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['mine']);
    });

    it('wakes a waiting reader when a message arrives', async () => {
      const { inbox, me } = await start();
      const waiting = inbox.take(me, { max: 10, waitMs: 10_000 });
      expect(await isPending(waiting)).toBe(true);
      await inbox.send(me, 'late');
      expect(bodies(await waiting)).toEqual(['late']);
    });

    it('a waiting reader gets no messages at its time limit', async () => {
      const { inbox, me, advance } = await start();
      const waiting = inbox.take(me, { max: 10, waitMs: 50 });
      await advance(60);
      expect(await waiting).toEqual([]);
    });

    it('refuses messages before it is opened and after it is closed', async () => {
      const { inbox, me } = await start();
      expect(await inbox.send(fresh('unknown'), 'hello')).toBe('gone');
      expect(await inbox.take(fresh('unknown'), AT_ONCE)).toEqual([]);
      expect(await inbox.close(me)).toBe('closed');
      expect(await inbox.close(me)).toBe('closed');
      expect(await inbox.send(me, 'too late')).toBe('gone');
    });

    it('keeps its messages when it is opened again', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'before');
      await inbox.open(me);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['before']);
    });

    it('I2 no leak: expires if it is not opened again', async () => {
      const idleMs = 2_000;
      const { inbox, me, advance, ...timed } = await start({ idleMs });
      // Twice this is after its expiry; once is long before it on real servers, even on a slow machine.
      const sooner = isStepped({ advance, ...timed }) ? idleMs - 1 : 0.6 * idleMs;
      await advance(sooner);
      await inbox.send(me, 'kept');
      await inbox.open(me);
      await advance(sooner);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['kept']);
      await advance(idleMs);
      expect(await inbox.send(me, 'too late')).toBe('gone');
      expect(await inbox.size(me)).toEqual({ messages: 0, delivered: 0, dead: 0 });
    });

    it('I11 bounded: refuses new messages at its limit and drops nothing', async () => {
      const { inbox, me } = await start({ maxMessages: 3 });
      const results = await Promise.all(times(20, (index) => inbox.send(me, `message ${index}`)));
      expect(results.filter((result) => result === 'sent')).toHaveLength(3);
      expect(results.filter((result) => result === 'full')).toHaveLength(17);
      const messages = await inbox.take(me, AT_ONCE);
      expect(messages).toHaveLength(3);
      // A delivered message still counts: there is room only after its acknowledgement.
      expect(await inbox.send(me, 'one more')).toBe('full');
      await inbox.ack(me, idsOf(messages).slice(0, 1));
      expect(await inbox.send(me, 'one more')).toBe('sent');
    });

    it('delivers only unacknowledged messages again, with their count', async () => {
      const { inbox, me, stuck } = await start();
      await inbox.send(me, 'handled');
      await inbox.send(me, 'forgotten');
      const [handled] = await inbox.take(me, AT_ONCE);
      await inbox.ack(me, handled === undefined ? [] : [handled.messageId]);
      await inbox.send(me, 'not handed out');
      const again = await stuck();
      expect(again.died).toBe(0);
      expect(again.messages).toMatchObject([{ body: 'forgotten', deliveries: 2 }]);
      expect((await stuck()).messages).toMatchObject([{ body: 'forgotten', deliveries: 3 }]);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['not handed out']);
    });

    it('does not deliver a recently delivered message again', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'just now');
      await inbox.take(me, AT_ONCE);
      const again = await inbox.takeAgain(me, { max: 10, idleMs: 60_000 });
      expect(again).toEqual({ messages: [], died: 0 });
    });

    it('moves a message to the dead letters after too many deliveries', async () => {
      const { inbox, me, stuck } = await start({ maxDeliveries: 2 });
      await inbox.send(me, 'poison');
      await inbox.take(me, AT_ONCE);
      expect((await stuck()).messages).toMatchObject([{ body: 'poison', deliveries: 2 }]);
      await inbox.send(me, 'fine');
      expect(await stuck()).toEqual({ messages: [], died: 1 });
      expect(await inbox.size(me)).toEqual({ messages: 1, delivered: 0, dead: 1 });
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['fine']);
      expect(await stuck()).toMatchObject({ messages: [{ body: 'fine' }], died: 0 });
    });

    it('neither redelivers nor buries a message that is still being handled', async () => {
      const { inbox, me, advance, ...timed } = await start({ maxDeliveries: 2 });
      for (const body of ['slow', 'stuck', 'slow too']) await inbox.send(me, body);
      const [slow, , slowToo] = idsOf(await inbox.take(me, AT_ONCE));
      const except = new Set([slow ?? '', slowToo ?? '']);
      for (const expected of [{ messages: [{ body: 'stuck', deliveries: 2 }] }, { messages: [], died: 1 }]) {
        await advance(IDLE_MS + edgeOf({ advance, ...timed }));
        expect(await inbox.takeAgain(me, { max: 1, idleMs: IDLE_MS, except })).toMatchObject(expected);
      }
      // They were delivered only once.
      const again = await inbox.takeAgain(me, { max: 10, idleMs: IDLE_MS });
      expect(again.messages).toMatchObject([
        { body: 'slow', deliveries: 2 },
        { body: 'slow too', deliveries: 2 },
      ]);
    });

    it('finds a stuck message behind a page of messages in progress', async () => {
      const { inbox, me, stuck } = await start();
      const bodiesSent = times(600, (index) => `message ${index}`);
      for (const body of bodiesSent) await inbox.send(me, body);
      const ids = idsOf(await inbox.take(me, AT_ONCE));
      await stuck();
      const except = new Set(ids.slice(0, -2));
      const again = await inbox.takeAgain(me, { max: 5, idleMs: 0, except });
      expect(bodies(again.messages)).toEqual(bodiesSent.slice(-2));
    });

    it('buries a message only after it was idle for a while', async () => {
      const { inbox, me, advance, stuck } = await start({ maxDeliveries: 1, minIdleToDieMs: 1_000 });
      await inbox.send(me, 'poison');
      await inbox.take(me, AT_ONCE);
      expect(await stuck()).toEqual({ messages: [], died: 0 });
      await advance(1_000);
      expect(await stuck()).toEqual({ messages: [], died: 1 });
    });

    it('drops and counts dead letters if none are kept', async () => {
      const { inbox, me, stuck } = await start({ maxDeliveries: 1, maxDead: 0 });
      for (const body of ['a', 'b']) await inbox.send(me, body);
      await inbox.take(me, AT_ONCE);
      expect(await stuck()).toEqual({ messages: [], died: 2 });
      expect(await inbox.size(me)).toEqual({ messages: 0, delivered: 0, dead: 0 });
    });

    it('I11 bounded: keeps no more dead letters than its limit', async () => {
      const { inbox, me, stuck } = await start({ maxDeliveries: 1, maxDead: 2 });
      for (const body of ['a', 'b', 'c', 'd']) await inbox.send(me, body);
      await inbox.take(me, AT_ONCE);
      expect((await stuck()).died).toBe(4);
      expect(await inbox.size(me)).toEqual({ messages: 0, delivered: 0, dead: 2 });
    });

    it('ignores acknowledgements of unknown or removed messages', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'one');
      const ids = idsOf(await inbox.take(me, AT_ONCE));
      await inbox.ack(me, ids);
      await inbox.ack(me, ids);
      await inbox.ack(me, []);
      await inbox.ack(fresh('unknown'), ids);
      expect(await inbox.size(me)).toEqual({ messages: 0, delivered: 0, dead: 0 });
    });

    it('acknowledges thousands of messages at once', async () => {
      const { inbox, me } = await start();
      await Promise.all(times(2_500, (index) => inbox.send(me, String(index))));
      await inbox.ack(me, idsOf(await inbox.take(me, { max: 3_000, waitMs: 0 })));
      expect(await inbox.size(me)).toEqual({ messages: 0, delivered: 0, dead: 0 });
    });

    it('is not closed while it holds messages, delivered or not', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'unread');
      expect(await inbox.close(me)).toBe('not_empty');
      const messages = await inbox.take(me, AT_ONCE);
      expect(await inbox.close(me)).toBe('not_empty');
      await inbox.ack(me, idsOf(messages));
      expect(await inbox.close(me)).toBe('closed');
    });

    it('loses no message between concurrent senders and a close', async () => {
      const { inbox, me } = await start();
      const sending = times(50, (index) => inbox.send(me, `message ${index}`));
      const closing = inbox.close(me);
      const sent = (await Promise.all(sending)).filter((result) => result === 'sent').length;
      const isClosed = (await closing) === 'closed';
      const found = await inbox.take(me, AT_ONCE);
      expect(found.length).toBe(isClosed ? 0 : sent);
      if (isClosed) expect(sent).toBe(0);
    });
  });
}
