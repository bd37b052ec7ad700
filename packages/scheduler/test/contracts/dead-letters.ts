/** Contract of DeadLetters: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { type DeadLetters, HEAD_BYTES, MESSAGE_ID, PAGE_BYTES } from '../../src/ports/dead-letters.ts';
import type { Inbox } from '../../src/ports/inbox.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed, times } from './harness.ts';

export interface DeadLettersLimits {
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  readonly maxDead: number;
  readonly maxDeadOfTenant: number;
  readonly orphanedForMs: number;
}

export interface DeadLettersHarness extends Timed, Closable {
  readonly inbox: Inbox;
  readonly deadLetters: DeadLetters;
}

const ROOMY: DeadLettersLimits = {
  maxMessages: 1_000,
  maxDeliveries: 1,
  maxDead: 1_000,
  maxDeadOfTenant: 1_000,
  orphanedForMs: 60_000,
};
const SHORT_MS = 300;
const AT_ONCE = { max: 1_000, waitMs: 0 };

export function deadLettersContract(
  name: string,
  open: (limits: DeadLettersLimits) => Promise<DeadLettersHarness>,
): void {
  describe(`DeadLetters: ${name}`, () => {
    const startWith = perTest(open);

    async function start(limits: Partial<DeadLettersLimits> = {}) {
      const harness = await startWith({ ...ROOMY, ...limits });
      const { inbox, deadLetters } = harness;
      const me = fresh('instance');
      await inbox.open(me);

      /** Messages become dead letters as in production: delivered too often. */
      async function die(...bodies: readonly string[]): Promise<void> {
        for (const body of bodies) await dieFor(undefined, body);
      }
      /** `tenantId`: whose the message is; undefined: not known. */
      async function dieFor(tenantId: string | undefined, body: string): Promise<void> {
        await inbox.send(me, body);
        await inbox.take(me, AT_ONCE);
        await harness.advance(2);
        const asked: string[] = [];
        const tenantOf = async (text: string) => {
          asked.push(text);
          return tenantId;
        };
        const { died } = await inbox.takeAgain(me, { max: 100, idleMs: 1, tenantOf });
        expect({ died, asked }).toEqual({ died: 1, asked: [body] });
      }
      const heads = async (instanceId = me) =>
        (await deadLetters.list(instanceId, { max: 100 })).letters.map(({ head }) => head);
      const idOf = async (wanted: string): Promise<string> => {
        const { letters } = await deadLetters.list(me, { max: 100 });
        return letters.find(({ head }) => head === wanted)?.messageId ?? 'nothing';
      };
      const arrived = async (instanceId: string) =>
        (await inbox.take(instanceId, AT_ONCE)).map(({ body }) => body);
      return { ...harness, me, die, dieFor, heads, idOf, arrived };
    }

    it('lists dead letters, newest first, with the data for operators', async () => {
      const { deadLetters, me, die } = await start({ maxDeliveries: 1 });
      await die('first', '{"text":"你好"}');
      const { letters, isLast } = await deadLetters.list(me, { max: 10 });
      expect(isLast).toBe(true);
      expect(letters).toMatchObject([
        { head: '{"text":"你好"}', deliveries: 1, bytes: 17 },
        { head: 'first', deliveries: 1, bytes: 5 },
      ]);
      for (const { messageId, diedAt } of letters) {
        expect(messageId).toMatch(MESSAGE_ID);
        expect(messageId.startsWith(`${diedAt}-`)).toBe(true);
      }
      expect(letters[0]).not.toHaveProperty('body');
    });

    it('is empty for unknown instances', async () => {
      const { deadLetters } = await start();
      const unknown = fresh('unknown');
      expect(await deadLetters.list(unknown, { max: 10 })).toEqual({ letters: [], isLast: true });
      expect(await deadLetters.get(unknown, '1-1')).toBeUndefined();
      expect(await deadLetters.purge(unknown, { max: 10 })).toEqual({ purged: 0, isDone: true });
      expect(await deadLetters.replay(unknown, '1-1', unknown)).toBe('absent');
      await deadLetters.orphan(unknown);
      expect(await deadLetters.orphaned()).toEqual([]);
    });

    it('lists each message once over all pages and marks the last page', async () => {
      const { deadLetters, me, die } = await start();
      await die('a', 'b', 'c', 'd');
      const pages: string[][] = [];
      let after: string | undefined;
      for (let isLast = false; !isLast; ) {
        const page = await deadLetters.list(me, { max: 2, after });
        pages.push(page.letters.map(({ head }) => head));
        after = page.letters.at(-1)?.messageId;
        isLast = page.isLast;
      }
      expect(pages).toEqual([
        ['d', 'c'],
        ['b', 'a'],
      ]);
    });

    it('I11 bounded: shortens a long message and ends a large page', async () => {
      const { deadLetters, me, die } = await start();
      const long = 'x'.repeat(PAGE_BYTES / 2);
      await die('old', long, long, 'new');
      const page = await deadLetters.list(me, { max: 100 });
      expect(page.letters.map(({ bytes }) => bytes)).toEqual([3, long.length, long.length]);
      expect(page.letters[1]?.head).toBe('x'.repeat(HEAD_BYTES));
      expect(page.isLast).toBe(false);
      const rest = await deadLetters.list(me, { max: 100, after: page.letters[2]?.messageId });
      expect(rest).toMatchObject({ letters: [{ head: 'old' }], isLast: true });
    });

    it('returns a whole message, and nothing for an unknown id', async () => {
      const { deadLetters, me, die, idOf } = await start();
      const body = `{"text":"${'你'.repeat(HEAD_BYTES)}"}`;
      await die(body, 'other');
      const { letters } = await deadLetters.list(me, { max: 10 });
      const long = letters[1];
      expect(await deadLetters.get(me, long?.messageId ?? '')).toEqual({ ...long, body });
      expect(await deadLetters.get(fresh('another'), await idOf('other'))).toBeUndefined();
      for (const unknown of ['1-1', 'x', '', '-', '+', '99999999999999999999999-1']) {
        expect(await deadLetters.get(me, unknown)).toBeUndefined();
        expect(await deadLetters.replay(me, unknown, me)).toBe('absent');
      }
    });

    it('replays a message into an inbox and removes it', async () => {
      const { deadLetters, inbox, me, die, idOf, heads, arrived } = await start();
      const other = fresh('instance');
      await inbox.open(other);
      await die('for other', 'stays', 'for me');
      const messageId = await idOf('for other');
      expect(await deadLetters.replay(me, messageId, other)).toBe('replayed');
      expect(await deadLetters.replay(me, messageId, other)).toBe('absent');
      expect(await deadLetters.replay(me, await idOf('for me'), me)).toBe('replayed');
      expect(await inbox.take(other, AT_ONCE)).toMatchObject([{ body: 'for other', deliveries: 1 }]);
      expect(await arrived(me)).toEqual(['for me']);
      expect(await heads()).toEqual(['stays']);
    });

    it('keeps a message that the inbox refuses', async () => {
      const { deadLetters, inbox, me, die, idOf, heads } = await start({ maxMessages: 1 });
      await die('letter');
      const messageId = await idOf('letter');
      expect(await deadLetters.replay(me, messageId, fresh('unknown'))).toBe('gone');
      await inbox.send(me, 'fills it');
      expect(await deadLetters.replay(me, messageId, me)).toBe('full');
      expect(await heads()).toEqual(['letter']);
    });

    it('loses no message when replays race', async () => {
      const { deadLetters, me, die, idOf, heads, arrived } = await start();
      await die('wanted');
      const messageId = await idOf('wanted');
      const results = await Promise.all(times(5, () => deadLetters.replay(me, messageId, me)));
      const replayed = results.filter((result) => result === 'replayed').length;
      expect(replayed).toBeGreaterThan(0);
      expect(await arrived(me)).toEqual(times(replayed, () => 'wanted'));
      expect(await heads()).toEqual([]);
    });

    it('purges all messages of one instance only', async () => {
      const { deadLetters, inbox, me, die, heads } = await start();
      await die('a', 'b');
      expect(await deadLetters.purge(fresh('another'), { max: 10 })).toEqual({ purged: 0, isDone: true });
      expect(await heads()).toEqual(['b', 'a']);
      expect(await deadLetters.purge(me, { max: 10 })).toEqual({ purged: 2, isDone: true });
      expect(await deadLetters.purge(me, { max: 10 })).toEqual({ purged: 0, isDone: true });
      expect((await inbox.size(me)).dead).toBe(0);
      await die('c');
      expect(await heads()).toEqual(['c']);
    });

    it('purges messages before a time, not at it', async () => {
      const { deadLetters, me, die, heads, advance } = await start();
      await die('old', 'older than asked');
      await advance(5);
      await die('young');
      const { letters } = await deadLetters.list(me, { max: 1 });
      const diedBefore = letters[0]?.diedAt ?? 0;
      expect(await deadLetters.purge(me, { diedBefore, max: 10 })).toEqual({ purged: 2, isDone: true });
      expect(await heads()).toEqual(['young']);
      expect(await deadLetters.purge(me, { diedBefore: 0, max: 10 })).toEqual({ purged: 0, isDone: true });
    });

    it('I11 bounded: purges a bounded number and reports the rest', async () => {
      const { deadLetters, me, die, heads } = await start();
      await die('a', 'b', 'c');
      expect(await deadLetters.purge(me, { max: 2 })).toEqual({ purged: 2, isDone: false });
      expect(await heads()).toHaveLength(1);
      expect(await deadLetters.purge(me, { max: 2 })).toEqual({ purged: 1, isDone: true });
    });

    it('I10 I11: keeps the part of a tenant and drops its oldest first', async () => {
      const { dieFor, heads } = await start({ maxDead: 6, maxDeadOfTenant: 3 });
      await dieFor('modest', 'm1');
      for (const body of ['g1', 'g2', 'g3', 'g4']) await dieFor('greedy', body);
      await dieFor('modest', 'm2');
      await dieFor('greedy', 'g5');
      expect(await heads()).toEqual(['g5', 'm2', 'g4', 'g3', 'm1']);
    });

    it('I11 bounded: counts messages of no known tenant together', async () => {
      const { die, dieFor, heads } = await start({ maxDead: 6, maxDeadOfTenant: 2 });
      await dieFor('a', 'a1');
      await die('n1', 'n2', 'n3');
      expect(await heads()).toEqual(['n3', 'n2', 'a1']);
    });

    it('I11 bounded: drops the oldest of all tenants at the limit of all', async () => {
      const { dieFor, heads } = await start({ maxDead: 3, maxDeadOfTenant: 2 });
      for (const [tenantId, body] of ['a1', 'b1', 'c1', 'a2', 'a3'].map((name) => [name.at(0), name]))
        await dieFor(tenantId, body ?? '');
      expect(await heads()).toEqual(['a3', 'a2', 'c1']);
    });

    it('counts no replayed, removed or purged message of a tenant', async () => {
      const { deadLetters, inbox, me, dieFor, heads, idOf } = await start({ maxDeadOfTenant: 2 });
      const other = fresh('instance');
      await inbox.open(other);
      await dieFor('a', 'a1');
      await dieFor('a', 'a2');
      await deadLetters.replay(me, await idOf('a2'), other);
      await dieFor('a', 'a2');
      expect(await heads()).toEqual(['a2', 'a1']);
      await deadLetters.remove(me, [await idOf('a2')]);
      await dieFor('a', 'a3');
      expect(await heads()).toEqual(['a3', 'a1']);
      await deadLetters.purge(me, { max: 1 });
      await dieFor('a', 'a4');
      expect(await heads()).toEqual(['a4', 'a1']);
    });

    it('keeps the messages of a removed instance for a time', async () => {
      const { deadLetters, me, die, idOf, heads, ...timed } = await start({ orphanedForMs: SHORT_MS });
      await die('left behind');
      await deadLetters.orphan(me);
      await deadLetters.orphan(me);
      expect(await deadLetters.orphaned()).toEqual([me]);
      expect(await heads()).toEqual(['left behind']);
      const messageId = await idOf('left behind');
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await heads()).toEqual([]);
      expect(await deadLetters.get(me, messageId)).toBeUndefined();
      expect(await deadLetters.replay(me, messageId, me)).toBe('absent');
      expect(await deadLetters.purge(me, { max: 10 })).toEqual({ purged: 0, isDone: true });
    });

    it('keeps messages without expiry when their instance is back', async () => {
      const { deadLetters, me, die, heads, ...timed } = await start({ orphanedForMs: SHORT_MS });
      await die('before');
      await deadLetters.orphan(me);
      await timed.advance(1);
      await die('after');
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await heads()).toEqual(['after', 'before']);
    });
  });
}
