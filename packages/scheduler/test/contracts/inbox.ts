/** Contract of Inbox: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Inbox, Letter } from '../../src/ports/inbox.ts';
import { type Closable, edgeOf, fresh, isPending, perTest, type Timed, times } from './harness.ts';

export interface InboxLimits {
  readonly maxLetters: number;
  readonly maxDeliveries: number;
  readonly maxDead: number;
}

export interface InboxHarness extends Timed, Closable {
  readonly inbox: Inbox;
}

const ROOMY: InboxLimits = { maxLetters: 10_000, maxDeliveries: 3, maxDead: 100 };
const IDLE_MS = 100;
const AT_ONCE = { max: 1_000, waitMs: 0 };
const bodies = (letters: readonly Letter[]): string[] => letters.map(({ body }) => body);
const idsOf = (letters: readonly Letter[]): string[] => letters.map(({ letterId }) => letterId);

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

    it('hands out what was sent, in order, once, with every character', async () => {
      const { inbox, me } = await start();
      const sent = ['one', '{"text":"你好 👋\\n"}', '', 'x'.repeat(100_000)];
      for (const body of sent) expect(await inbox.send(me, body)).toBe('sent');
      const letters = await inbox.take(me, AT_ONCE);
      expect(bodies(letters)).toEqual(sent);
      expect(letters.every(({ deliveries }) => deliveries === 1)).toBe(true);
      expect(await inbox.take(me, AT_ONCE)).toEqual([]);
    });

    it('hands out no more than was asked for', async () => {
      const { inbox, me } = await start();
      for (const body of ['a', 'b', 'c']) await inbox.send(me, body);
      expect(bodies(await inbox.take(me, { max: 2, waitMs: 0 }))).toEqual(['a', 'b']);
      expect(bodies(await inbox.take(me, { max: 2, waitMs: 0 }))).toEqual(['c']);
    });

    it('keeps inboxes apart', async () => {
      const { inbox, me } = await start();
      const other = fresh('instance');
      await inbox.open(other);
      await inbox.send(me, 'mine');
      await inbox.send(other, 'theirs');
      expect(bodies(await inbox.take(other, AT_ONCE))).toEqual(['theirs']);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['mine']);
    });

    it('wakes a waiting reader when a letter arrives', async () => {
      const { inbox, me } = await start();
      const waiting = inbox.take(me, { max: 10, waitMs: 10_000 });
      expect(await isPending(waiting)).toBe(true);
      await inbox.send(me, 'late');
      expect(bodies(await waiting)).toEqual(['late']);
    });

    it('lets a waiting reader go empty-handed at its limit', async () => {
      const { inbox, me, advance } = await start();
      const waiting = inbox.take(me, { max: 10, waitMs: 50 });
      await advance(60);
      expect(await waiting).toEqual([]);
    });

    it('refuses the sender when nobody opened it, and when it was closed', async () => {
      const { inbox, me } = await start();
      expect(await inbox.send(fresh('nobody'), 'hello')).toBe('gone');
      expect(await inbox.take(fresh('nobody'), AT_ONCE)).toEqual([]);
      expect(await inbox.close(me)).toBe('closed');
      expect(await inbox.close(me)).toBe('closed');
      expect(await inbox.send(me, 'too late')).toBe('gone');
    });

    it('opens twice without losing what is in it', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'before');
      await inbox.open(me);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['before']);
    });

    it('I11 bounded: at its limit it refuses the sender and drops nothing', async () => {
      const { inbox, me } = await start({ maxLetters: 3 });
      const results = await Promise.all(times(20, (index) => inbox.send(me, `letter ${index}`)));
      expect(results.filter((result) => result === 'sent')).toHaveLength(3);
      expect(results.filter((result) => result === 'full')).toHaveLength(17);
      const letters = await inbox.take(me, AT_ONCE);
      expect(letters).toHaveLength(3);
      // Handed out is not handled: there is room only after the confirmation.
      expect(await inbox.send(me, 'one more')).toBe('full');
      await inbox.confirm(me, idsOf(letters).slice(0, 1));
      expect(await inbox.send(me, 'one more')).toBe('sent');
    });

    it('hands a letter out again that was not confirmed, with its count, and no other', async () => {
      const { inbox, me, stuck } = await start();
      await inbox.send(me, 'handled');
      await inbox.send(me, 'forgotten');
      const [handled] = await inbox.take(me, AT_ONCE);
      await inbox.confirm(me, handled === undefined ? [] : [handled.letterId]);
      await inbox.send(me, 'not handed out');
      const again = await stuck();
      expect(again.died).toBe(0);
      expect(again.letters).toMatchObject([{ body: 'forgotten', deliveries: 2 }]);
      expect((await stuck()).letters).toMatchObject([{ body: 'forgotten', deliveries: 3 }]);
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['not handed out']);
    });

    it('leaves alone what was handed out a moment ago', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'just now');
      await inbox.take(me, AT_ONCE);
      const again = await inbox.takeAgain(me, { max: 10, idleMs: 60_000 });
      expect(again).toEqual({ letters: [], died: 0 });
    });

    it('puts a letter among the dead after too many deliveries, and goes on with the others', async () => {
      const { inbox, me, stuck } = await start({ maxDeliveries: 2 });
      await inbox.send(me, 'poison');
      await inbox.take(me, AT_ONCE);
      expect((await stuck()).letters).toMatchObject([{ body: 'poison', deliveries: 2 }]);
      await inbox.send(me, 'fine');
      expect(await stuck()).toEqual({ letters: [], died: 1 });
      expect(await inbox.size(me)).toEqual({ letters: 1, handedOut: 0, dead: 1 });
      expect(bodies(await inbox.take(me, AT_ONCE))).toEqual(['fine']);
      expect(await stuck()).toMatchObject({ letters: [{ body: 'fine' }], died: 0 });
    });

    it('I11 bounded: keeps no more dead letters than its limit', async () => {
      const { inbox, me, stuck } = await start({ maxDeliveries: 1, maxDead: 2 });
      for (const body of ['a', 'b', 'c', 'd']) await inbox.send(me, body);
      await inbox.take(me, AT_ONCE);
      expect((await stuck()).died).toBe(4);
      expect(await inbox.size(me)).toEqual({ letters: 0, handedOut: 0, dead: 2 });
    });

    it('confirms what it does not know, or knows no more, without harm', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'one');
      const ids = idsOf(await inbox.take(me, AT_ONCE));
      await inbox.confirm(me, ids);
      await inbox.confirm(me, ids);
      await inbox.confirm(me, []);
      expect(await inbox.size(me)).toEqual({ letters: 0, handedOut: 0, dead: 0 });
    });

    it('is not closed while something is in it, handed out or not', async () => {
      const { inbox, me } = await start();
      await inbox.send(me, 'unread');
      expect(await inbox.close(me)).toBe('not_empty');
      const letters = await inbox.take(me, AT_ONCE);
      expect(await inbox.close(me)).toBe('not_empty');
      await inbox.confirm(me, idsOf(letters));
      expect(await inbox.close(me)).toBe('closed');
    });

    it('loses no letter between concurrent senders and a close', async () => {
      const { inbox, me } = await start();
      const sending = times(50, (index) => inbox.send(me, `letter ${index}`));
      const closing = inbox.close(me);
      const sent = (await Promise.all(sending)).filter((result) => result === 'sent').length;
      const isClosed = (await closing) === 'closed';
      const found = await inbox.take(me, AT_ONCE);
      expect(found.length).toBe(isClosed ? 0 : sent);
      if (isClosed) expect(sent).toBe(0);
    });
  });
}
