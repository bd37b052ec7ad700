/** Contract of NodeMailbox: its law as tests, for any adapter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeId } from '../../src/domain/ids.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import type { MailboxEntry, NodeMailbox } from '../../src/ports/node-mailbox.ts';
import { type Closable, edgeOf, fresh, holdsBefore, perTest, type Timed, times } from './harness.ts';
import { nodeMailboxSlots } from './node-mailbox-slots.ts';
import { nodeMailboxWaits } from './node-mailbox-waits.ts';

export interface InboxMessage {
  readonly text: string;
}

export interface MailboxHarness extends Timed, Closable {
  readonly mailbox: NodeMailbox<InboxMessage>;
  /** On the same store. */
  readonly ledger: CapacityLedger;
  /** The mailbox's own clock. */
  now(): number;
}

export interface StartedMailbox extends MailboxHarness {
  readonly node: NodeId;
  /** A new entry that expires in `ttlMs`. */
  write(ttlMs?: number): MailboxEntry<InboxMessage>;
}

export type OpenMailbox = (limits: { maxPerNode: number }) => Promise<MailboxHarness>;

export const NOW = { max: 100, waitMs: 0 };
export const ids = (entries: readonly MailboxEntry<InboxMessage>[]): string[] =>
  entries.map((entry) => entry.jobId);

export function nodeMailboxContract(name: string, open: OpenMailbox): void {
  describe(`NodeMailbox: ${name}`, () => {
    const startWith = perTest(open);

    async function start(maxPerNode = 100): Promise<StartedMailbox> {
      const harness = await startWith({ maxPerNode });
      const write = (ttlMs = 60_000): MailboxEntry<InboxMessage> => {
        const jobId = fresh('job');
        return { jobId, expiresAt: harness.now() + ttlMs, body: { text: `for ${jobId} 你好` } };
      };
      return { ...harness, node: fresh('node'), write };
    }

    it('hands out what was put, first in, first out, no more than asked for', async () => {
      const { mailbox, node, write } = await start();
      const entries = times(5, () => write());
      for (const entry of entries) expect(await mailbox.put(node, entry)).toBe('queued');
      expect(await mailbox.take(node, { max: 2, waitMs: 0 })).toEqual(entries.slice(0, 2));
      expect(await mailbox.take(node, { max: 1, waitMs: 0 })).toEqual(entries.slice(2, 3));
      expect(await mailbox.take(node, NOW)).toEqual(entries.slice(3));
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('hands out who drives a job, if that was said', async () => {
      const { mailbox, node, write } = await start();
      const entries = [{ ...write(), driver: 'instance-1/first' }, write()];
      for (const entry of entries) await mailbox.put(node, entry);
      expect(await mailbox.take(node, NOW)).toEqual(entries);
    });

    it('answers at once when nothing is there and there is no wait', async () => {
      const { mailbox, node } = await start();
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('keeps the entries of one node from another', async () => {
      const { mailbox, node, write } = await start(1);
      const entry = write();
      await mailbox.put(node, entry);
      const other = fresh('node');
      expect(await mailbox.take(other, NOW)).toEqual([]);
      expect(await mailbox.drop(other, entry.jobId)).toBe(false);
      await mailbox.forget(other);
      expect(await mailbox.put(other, write())).toBe('queued');
      expect(await mailbox.take(node, NOW)).toEqual([entry]);
    });

    it('hands out every entry exactly once under concurrent takes', async () => {
      const { mailbox, node, write } = await start();
      const entries = times(50, () => write());
      for (const entry of entries) await mailbox.put(node, entry);
      const taken = await Promise.all(times(100, () => mailbox.take(node, { max: 1, waitMs: 0 })));
      expect(taken.every((some) => some.length <= 1)).toBe(true);
      expect(ids(taken.flat()).sort()).toEqual(ids(entries).sort());
    });

    it('I11 bounded: is full per node at its limit, keeps nothing of what was refused, and has room after a take', async () => {
      const { mailbox, node, write } = await start(3);
      const entries = times(10, () => write());
      const answers = await Promise.all(entries.map((entry) => mailbox.put(node, entry)));
      expect(answers.filter((answer) => answer === 'queued')).toHaveLength(3);
      const queued = entries.filter((_, index) => answers[index] === 'queued');
      expect(await mailbox.put(node, write())).toBe('full');
      expect(ids(await mailbox.take(node, NOW)).sort()).toEqual(ids(queued).sort());
      expect(await mailbox.put(node, write())).toBe('queued');
    });

    it('hands out an entry until its expiry and never after it', async () => {
      const harness = await start();
      const { mailbox, node, write, advance } = harness;
      const other = fresh('node');
      const begunAt = performance.now();
      const [inTime, tooLate, lasting] = [write(300), write(300), write()];
      await mailbox.put(node, inTime);
      await mailbox.put(other, tooLate);
      await mailbox.put(other, lasting);
      await advance(300 - edgeOf(harness));
      await holdsBefore(harness, begunAt, 300, async () =>
        expect(await mailbox.take(node, NOW)).toEqual([inTime]),
      );
      await advance(edgeOf(harness) + 1);
      expect(await mailbox.take(other, NOW)).toEqual([lasting]);
    });

    it('does not hand out an entry that was put after its expiry', async () => {
      const { mailbox, node, write, advance } = await start();
      const waiting = mailbox.take(node, { max: 1, waitMs: 200 });
      await advance(20);
      await mailbox.put(node, write(-1));
      await advance(210);
      expect(await waiting).toEqual([]);
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('gives the room of expired entries to new ones', async () => {
      const harness = await start(2);
      const { mailbox, node, write, advance } = harness;
      const begunAt = performance.now();
      await mailbox.put(node, write(200));
      await mailbox.put(node, write(200));
      await holdsBefore(harness, begunAt, 200, async () =>
        expect(await mailbox.put(node, write())).toBe('full'),
      );
      await advance(201);
      expect(await mailbox.put(node, write())).toBe('queued');
    });

    it('takes back an entry nobody has fetched, once, and gives its room away', async () => {
      const { mailbox, node, write } = await start(3);
      const entries = times(3, () => write());
      const [a, b, c] = entries as [
        MailboxEntry<InboxMessage>,
        MailboxEntry<InboxMessage>,
        MailboxEntry<InboxMessage>,
      ];
      for (const entry of entries) await mailbox.put(node, entry);
      const drops = await Promise.all(times(10, () => mailbox.drop(node, b.jobId)));
      expect(drops.filter(Boolean)).toHaveLength(1);
      expect(await mailbox.drop(node, fresh('job'))).toBe(false);
      const late = write();
      expect(await mailbox.put(node, late)).toBe('queued');
      expect(await mailbox.put(node, write())).toBe('full');
      expect(await mailbox.take(node, NOW)).toEqual([a, c, late]);
      expect(await mailbox.drop(node, a.jobId)).toBe(false);
    });

    it('either takes an entry back or hands it out, never both, when both are tried at once', async () => {
      const { mailbox, node, write } = await start();
      for (const entry of times(20, () => write())) {
        await mailbox.put(node, entry);
        const [taken, isDropped] = await Promise.all([
          mailbox.take(node, NOW),
          mailbox.drop(node, entry.jobId),
        ]);
        expect(taken.length + Number(isDropped)).toBe(1);
      }
    });

    it('forgets a node with its entries, and a mailbox begins anew with the next put', async () => {
      const { mailbox, node, write } = await start(1);
      await mailbox.put(node, write());
      await mailbox.forget(node);
      await mailbox.forget(node);
      expect(await mailbox.take(node, NOW)).toEqual([]);
      const entry = write();
      expect(await mailbox.put(node, entry)).toBe('queued');
      expect(await mailbox.take(node, NOW)).toEqual([entry]);
    });

    it('hands out or keeps every queued entry once, in order, through random histories', async () => {
      const { mailbox, write } = await start(4);
      const step = fc.constantFrom('put', 'put', 'take', 'take two', 'wait', 'abort', 'drop');
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const node = fresh('node');
          const queued: string[] = [];
          const dropped: string[] = [];
          const takes: Promise<readonly MailboxEntry<InboxMessage>[]>[] = [];
          const aborts: AbortController[] = [];
          for (const act of steps) {
            if (act === 'put') {
              const entry = write();
              if ((await mailbox.put(node, entry)) === 'queued') queued.push(entry.jobId);
            } else if (act === 'drop') {
              const jobId = queued.at(-1) ?? fresh('job');
              if (await mailbox.drop(node, jobId)) dropped.push(jobId);
            } else if (act === 'abort') aborts.shift()?.abort();
            else {
              const abort = new AbortController();
              const waitMs = act === 'wait' ? 60_000 : 0;
              if (act === 'wait') aborts.push(abort);
              const taking = mailbox.take(node, {
                max: act === 'take two' ? 2 : 1,
                waitMs,
                signal: abort.signal,
              });
              takes.push(taking);
              if (act !== 'wait') await taking;
            }
          }
          for (const abort of aborts) abort.abort();
          // An aborted take has ended when its promise has: until then it may hold what it then gives back.
          const ended = await Promise.all(takes);
          const each = [...ended, await mailbox.take(node, NOW)].map(ids);
          expect([...each.flat(), ...dropped].sort()).toEqual([...queued].sort());
          for (const some of each)
            expect(some).toEqual(some.toSorted((a, b) => queued.indexOf(a) - queued.indexOf(b)));
        }),
        {
          numRuns: 90,
          // What an aborted take gives back comes before what was put meanwhile, also if all that happens within a millisecond: often enough
          // for that to come about.
          examples: times(30, () => [['wait', 'take two', 'drop', 'wait', 'wait', 'put', 'abort', 'put']]),
        },
      );
    });

    describe('waiting', () => nodeMailboxWaits(start));
    describe('slots', () => nodeMailboxSlots(start));
  });
}
