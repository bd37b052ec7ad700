/** Contract of NodeMailbox, third part: the slots that entries name, on the ledger of the same store. */
import { expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { MailboxEntry } from '../../src/ports/node-mailbox.ts';
import { edgeOf } from './harness.ts';
import { type InboxMessage, ids, NOW, type StartedMailbox } from './node-mailbox.ts';

/** How long a slot is reserved for a job that nobody has fetched yet. */
const RESERVED_MS = 600;
const LASTING_MS = 60_000;

export function nodeMailboxSlots(startMailbox: () => Promise<StartedMailbox>): void {
  async function start() {
    const started = await startMailbox();
    const { ledger, node, write } = started;
    await ledger.declare(node, { slots: 4, isAccepting: true });
    /** A new entry whose slot is reserved for a moment. */
    async function reserve(
      ttlMs = LASTING_MS,
    ): Promise<MailboxEntry<InboxMessage> & { readonly lease: string }> {
      const entry = write();
      const lease = leaseId(entry.jobId, 1);
      await ledger.reserve(node, lease, RESERVED_MS);
      return { ...entry, slot: { lease, ttlMs }, lease };
    }
    const used = async (): Promise<number | undefined> => (await ledger.loads([node])).get(node)?.used;
    return { ...started, reserve, used };
  }

  it('last from when their entries are handed out, and not from when those are put', async () => {
    const { mailbox, node, reserve, used, advance } = await start();
    const [fetched, left] = [await reserve(), await reserve()];
    await mailbox.put(node, fetched);
    await mailbox.put(node, left);
    expect(ids(await mailbox.take(node, { max: 1, waitMs: 0 }))).toEqual([fetched.jobId]);
    expect(await used()).toBe(2);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it('end when they are said to, and not before', async () => {
    const harness = await start();
    const { mailbox, node, reserve, used, advance } = harness;
    await mailbox.put(node, await reserve(RESERVED_MS + 1_000));
    await mailbox.take(node, NOW);
    await advance(RESERVED_MS + edgeOf(harness));
    expect(await used()).toBe(1);
    await advance(1_001);
    expect(await used()).toBe(0);
  });

  it('are never shortened by being handed out', async () => {
    const { mailbox, node, ledger, reserve, used, advance } = await start();
    const entry = await reserve(1);
    await ledger.reserve(node, entry.lease, LASTING_MS);
    await mailbox.put(node, entry);
    await mailbox.take(node, NOW);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it.each(['given back', 'given up', 'over'] as const)(
    'I1 no oversell: what names one that is %s is not handed out, and takes no slot',
    async (what) => {
      const { mailbox, node, ledger, reserve, used, advance } = await start();
      const [gone, sound] = [await reserve(), await reserve()];
      await mailbox.put(node, gone);
      await mailbox.put(node, sound);
      if (what === 'given back') await ledger.release(node, gone.lease);
      if (what === 'given up') await ledger.fence(node, gone.lease);
      if (what === 'over') {
        await ledger.commit(node, sound.lease, LASTING_MS);
        await advance(RESERVED_MS + 1);
      }
      const before = await used();
      expect(ids(await mailbox.take(node, NOW))).toEqual([sound.jobId]);
      expect(await used()).toBe(before);
      // Nor later.
      expect(await mailbox.take(node, NOW)).toEqual([]);
      await advance(RESERVED_MS + 1);
      expect(await used()).toBe(1);
    },
  );

  it('wake nobody for what is not handed out', async () => {
    const { mailbox, node, ledger, reserve, advance } = await start();
    const waiting = mailbox.take(node, { max: 1, waitMs: 10_000 });
    await advance(20);
    const [gone, sound] = [await reserve(), await reserve()];
    await ledger.release(node, gone.lease);
    await mailbox.put(node, gone);
    await advance(20);
    await mailbox.put(node, sound);
    expect(ids(await waiting)).toEqual([sound.jobId]);
  });

  it('I2 no leak: are proven gone by a report of the node without the job', async () => {
    const { mailbox, node, ledger, reserve, used, advance } = await start();
    const [fetched, left] = [await reserve(), await reserve()];
    await mailbox.put(node, fetched);
    await mailbox.put(node, left);
    await mailbox.take(node, { max: 1, waitMs: 0 });
    await advance(100);
    await ledger.reconcile(node, { running: 0, runningJobIds: [fetched.jobId], takenMs: 50 });
    expect(await used()).toBe(2);
    await ledger.reconcile(node, { running: 0, runningJobIds: [], takenMs: 50 });
    // What nobody has fetched may be on its way.
    expect(await used()).toBe(1);
  });

  it('I2 no leak: of what is taken back last no longer than they are said to, fetched or not', async () => {
    const { mailbox, node, reserve, used, advance } = await start();
    const [fetched, left] = [await reserve(), await reserve()];
    await mailbox.put(node, fetched);
    await mailbox.put(node, left);
    await mailbox.take(node, { max: 1, waitMs: 0 });
    const cut = (lease: string) => ({ lease, ttlMs: RESERVED_MS });
    expect(await mailbox.drop(node, fetched.jobId, cut(fetched.lease))).toBe(false);
    expect(await mailbox.drop(node, left.jobId, cut(left.lease))).toBe(true);
    expect(await used()).toBe(2);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(0);
    expect(await mailbox.take(node, NOW)).toEqual([]);
  });

  it('are not lengthened, nor taken, by taking back', async () => {
    const { mailbox, node, ledger, reserve, used, advance } = await start();
    const [held, gone] = [await reserve(), await reserve()];
    await ledger.release(node, gone.lease);
    for (const { jobId, lease } of [held, gone])
      await mailbox.drop(node, jobId, { lease, ttlMs: LASTING_MS });
    expect(await used()).toBe(1);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(0);
  });

  it('of what is taken back stay as they are unless that is said', async () => {
    const { mailbox, node, reserve, used, advance } = await start();
    const entry = await reserve();
    await mailbox.put(node, entry);
    await mailbox.take(node, NOW);
    await mailbox.drop(node, entry.jobId);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it('are named again by what was taken in vain', async () => {
    const { mailbox, node, reserve, used, advance } = await start();
    const [first, second] = [await reserve(), await reserve()];
    await mailbox.put(node, first);
    await mailbox.put(node, second);
    const leaving = new AbortController();
    const taking = mailbox.take(node, { max: 1, waitMs: 0, signal: leaving.signal });
    leaving.abort();
    const inVain = ids(await taking);
    // Where nothing has to be asked it may have been handed out before the other left.
    const again = ids(await mailbox.take(node, NOW));
    expect([...inVain, ...again]).toEqual([first.jobId, second.jobId]);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(2);
  });
}
