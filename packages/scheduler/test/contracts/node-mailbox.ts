/** Contract of NodeMailbox: its law as tests, for any adapter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeId } from '../../src/domain/ids.ts';
import { leaseId } from '../../src/domain/lease.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import type { MailboxEntry, NodeMailbox, Slot } from '../../src/ports/node-mailbox.ts';
import { type Closable, edgeOf, fresh, holdsBefore, perTest, type Timed, times } from './harness.ts';
import { nodeMailboxLeases } from './node-mailbox-leases.ts';
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

export type JobEntry = MailboxEntry<InboxMessage> & { readonly slot: Slot };

export interface StartedMailbox extends MailboxHarness {
  readonly node: NodeId;
  /** A new entry that expires in `ttlMs` and whose lease is reserved on the node. */
  write(ttlMs?: number, nodeId?: NodeId): Promise<JobEntry>;
}

export type OpenMailbox = (limits: { maxPerNode: number }) => Promise<MailboxHarness>;

const LONG_MS = 60_000;

export const NOW = { max: 100, waitMs: 0 };
export const ids = (entries: readonly MailboxEntry<InboxMessage>[]): string[] =>
  entries.map((entry) => entry.jobId);

export function nodeMailboxContract(name: string, open: OpenMailbox): void {
  describe(`NodeMailbox: ${name}`, () => {
    const startWith = perTest(open);

    async function start(maxPerNode = 100): Promise<StartedMailbox> {
      const harness = await startWith({ maxPerNode });
      const { ledger } = harness;
      const node = fresh('node');
      const declared = new Set<NodeId>();
      async function write(ttlMs = 60_000, nodeId = node): Promise<JobEntry> {
        const jobId = fresh('job');
        const slot = { lease: leaseId(jobId, 1), ttlMs: LONG_MS };
        if (!declared.has(nodeId)) await ledger.declare(nodeId, { slots: 1_000, isAccepting: true });
        declared.add(nodeId);
        await ledger.reserve(nodeId, slot.lease, LONG_MS);
        return { jobId, expiresAt: harness.now() + ttlMs, body: { text: `for ${jobId} 你好` }, slot };
      }
      return { ...harness, node, write };
    }

    it('hands out entries first in, first out, at most max', async () => {
      const { mailbox, node, write } = await start();
      const entries = await Promise.all(times(5, () => write()));
      for (const entry of entries) expect(await mailbox.put(node, entry)).toBe('queued');
      expect(await mailbox.take(node, { max: 2, waitMs: 0 })).toEqual(entries.slice(0, 2));
      expect(await mailbox.take(node, { max: 1, waitMs: 0 })).toEqual(entries.slice(2, 3));
      expect(await mailbox.take(node, NOW)).toEqual(entries.slice(3));
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('hands out the driver of a job with its entry', async () => {
      const { mailbox, node, write } = await start();
      const entries = [{ ...(await write()), driver: 'instance-1/first' }, await write()];
      for (const entry of entries) await mailbox.put(node, entry);
      expect(await mailbox.take(node, NOW)).toEqual(entries);
    });

    it('hands out a notice, which has no lease, in its turn', async () => {
      const { mailbox, node, write } = await start();
      const job = await write();
      const notice = { jobId: 'cancel:job', expiresAt: job.expiresAt, body: { text: 'stop' } };
      for (const entry of [notice, job]) expect(await mailbox.put(node, entry)).toBe('queued');
      expect(await mailbox.take(node, NOW)).toEqual([notice, job]);
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('answers at once if it is empty and the take does not wait', async () => {
      const { mailbox, node } = await start();
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('keeps the entries of each node separate', async () => {
      const { mailbox, node, write } = await start(1);
      const entry = await write();
      await mailbox.put(node, entry);
      const other = fresh('node');
      expect(await mailbox.take(other, NOW)).toEqual([]);
      expect(await mailbox.drop(other, entry.jobId)).toBe(false);
      await mailbox.forget(other);
      expect(await mailbox.put(other, await write(LONG_MS, other))).toBe('queued');
      expect(await mailbox.take(node, NOW)).toEqual([entry]);
    });

    it('hands out every entry exactly once when takes race', async () => {
      const { mailbox, node, write } = await start();
      const entries = await Promise.all(times(50, () => write()));
      for (const entry of entries) await mailbox.put(node, entry);
      const taken = await Promise.all(times(100, () => mailbox.take(node, { max: 1, waitMs: 0 })));
      expect(taken.every((some) => some.length <= 1)).toBe(true);
      expect(ids(taken.flat()).sort()).toEqual(ids(entries).sort());
    });

    it('I11 bounded: is full at its limit, and has room after a take', async () => {
      const { mailbox, node, write } = await start(3);
      const entries = await Promise.all(times(10, () => write()));
      const answers = await Promise.all(entries.map((entry) => mailbox.put(node, entry)));
      expect(answers.filter((answer) => answer === 'queued')).toHaveLength(3);
      const queued = entries.filter((_, index) => answers[index] === 'queued');
      expect(await mailbox.put(node, await write())).toBe('full');
      expect(ids(await mailbox.take(node, NOW)).sort()).toEqual(ids(queued).sort());
      expect(await mailbox.put(node, await write())).toBe('queued');
    });

    it('hands out an entry until its expiry, and not after it', async () => {
      const harness = await start();
      const { mailbox, node, write, advance } = harness;
      const other = fresh('node');
      const tooLate = await write(300, other);
      const lasting = await write(LONG_MS, other);
      const inTime = await write(300);
      const begunAt = performance.now();
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
      await mailbox.put(node, await write(-1));
      await advance(210);
      expect(await waiting).toEqual([]);
      expect(await mailbox.take(node, NOW)).toEqual([]);
    });

    it('gives the room of expired entries to new ones', async () => {
      const harness = await start(2);
      const { mailbox, node, write, advance } = harness;
      const begunAt = performance.now();
      await mailbox.put(node, await write(200));
      await mailbox.put(node, await write(200));
      const late = await write();
      await holdsBefore(harness, begunAt, 200, async () =>
        expect(await mailbox.put(node, late)).toBe('full'),
      );
      await advance(201);
      expect(await mailbox.put(node, await write())).toBe('queued');
    });

    it('drops an entry that was not fetched, once, and frees its room', async () => {
      const { mailbox, node, write } = await start(3);
      const entries = await Promise.all(times(3, () => write()));
      const [a, b, c] = entries as [
        MailboxEntry<InboxMessage>,
        MailboxEntry<InboxMessage>,
        MailboxEntry<InboxMessage>,
      ];
      for (const entry of entries) await mailbox.put(node, entry);
      const drops = await Promise.all(times(10, () => mailbox.drop(node, b.jobId)));
      expect(drops.filter(Boolean)).toHaveLength(1);
      expect(await mailbox.drop(node, fresh('job'))).toBe(false);
      const late = await write();
      expect(await mailbox.put(node, late)).toBe('queued');
      expect(await mailbox.put(node, await write())).toBe('full');
      expect(await mailbox.take(node, NOW)).toEqual([a, c, late]);
      expect(await mailbox.drop(node, a.jobId)).toBe(false);
    });

    it('either drops an entry or hands it out when both race', async () => {
      const { mailbox, node, write } = await start();
      for (const entry of await Promise.all(times(20, () => write()))) {
        await mailbox.put(node, entry);
        const [taken, isDropped] = await Promise.all([
          mailbox.take(node, NOW),
          mailbox.drop(node, entry.jobId),
        ]);
        expect(taken.length + Number(isDropped)).toBe(1);
      }
    });

    it('forgets the entries of a node, and accepts new ones', async () => {
      const { mailbox, node, write } = await start(1);
      await mailbox.put(node, await write());
      await mailbox.forget(node);
      await mailbox.forget(node);
      expect(await mailbox.take(node, NOW)).toEqual([]);
      const entry = await write();
      expect(await mailbox.put(node, entry)).toBe('queued');
      expect(await mailbox.take(node, NOW)).toEqual([entry]);
    });

    it('hands out or keeps every entry once, in order, in random histories', async () => {
      const { mailbox, write } = await start(4);
      const step = fc.constantFrom('put', 'put', 'take', 'take two', 'wait', 'abort', 'drop');
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const node = fresh('node');
          const puts = steps.filter((act) => act === 'put').length;
          // Created before: no call may happen between an abort and a put.
          const written = await Promise.all(times(puts, () => write(LONG_MS, node)));
          const queued: string[] = [];
          const dropped: string[] = [];
          const takes: Promise<readonly MailboxEntry<InboxMessage>[]>[] = [];
          const aborts: AbortController[] = [];
          for (const act of steps) {
            if (act === 'put') {
              const entry = written.shift() as MailboxEntry<InboxMessage>;
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
          // An aborted take may hold entries until its promise resolves; then it has put them back.
          const ended = await Promise.all(takes);
          const each = [...ended, await mailbox.take(node, NOW)].map(ids);
          expect([...each.flat(), ...dropped].sort()).toEqual([...queued].sort());
          for (const some of each)
            expect(some).toEqual(some.toSorted((a, b) => queued.indexOf(a) - queued.indexOf(b)));
        }),
        {
          numRuns: 90,
          // Entries of an aborted take come before entries that were put in between, also within one millisecond: the number of runs
          // makes that case likely.
          examples: times(30, () => [['wait', 'take two', 'drop', 'wait', 'wait', 'put', 'abort', 'put']]),
        },
      );
    });

    describe('waiting', () => nodeMailboxWaits(start));
    describe('leases', () => nodeMailboxLeases(start));
  });
}
