/** Contract of NodeMailbox: the leases of entries, on the ledger of the same store. */
import { expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';

import { edgeOf, fresh, times } from './harness.ts';
import { ids, type JobEntry, NOW, type StartedMailbox } from './node-mailbox.ts';

/** How long a lease is reserved for a job that was not fetched yet. */
const RESERVED_MS = 600;
const LONG_MS = 60_000;

export function nodeMailboxLeases(startMailbox: () => Promise<StartedMailbox>): void {
  async function start(slots = 4) {
    const started = await startMailbox();
    const { ledger, node, now } = started;
    await ledger.declare(node, { slots, isAccepting: true });
    /** A new entry whose lease is reserved for RESERVED_MS, and lasts `ttlMs` when it is fetched. */
    async function reserve(ttlMs = LONG_MS): Promise<JobEntry> {
      const jobId = fresh('job');
      const lease = leaseId(jobId, 1);
      await ledger.reserve(node, lease, RESERVED_MS);
      return { jobId, expiresAt: now() + LONG_MS, body: { text: jobId }, slot: { lease, ttlMs } };
    }
    const used = async (): Promise<number | undefined> => (await ledger.loads([node])).get(node)?.used;
    return { ...started, reserve, used };
  }

  /** A mailbox with two entries, in this order. */
  async function startWithTwo() {
    const started = await start();
    const { mailbox, node, reserve } = started;
    const [first, second] = [await reserve(), await reserve()];
    for (const entry of [first, second]) await mailbox.put(node, entry);
    return { ...started, first, second };
  }

  it('commits the lease of an entry when it is taken, not before', async () => {
    const { mailbox, node, first, used, advance } = await startWithTwo();
    expect(ids(await mailbox.take(node, { max: 1, waitMs: 0 }))).toEqual([first.jobId]);
    expect(await used()).toBe(2);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it('commits for the time in the entry', async () => {
    const harness = await start();
    const { mailbox, node, reserve, used, advance } = harness;
    await mailbox.put(node, await reserve(RESERVED_MS + 1_000));
    await mailbox.take(node, NOW);
    await advance(RESERVED_MS + edgeOf(harness));
    expect(await used()).toBe(1);
    await advance(1_001);
    expect(await used()).toBe(0);
  });

  it('never shortens a lease by a take', async () => {
    const { mailbox, node, ledger, reserve, used, advance } = await start();
    const entry = await reserve(1);
    await ledger.reserve(node, entry.slot.lease, LONG_MS);
    await mailbox.put(node, entry);
    await mailbox.take(node, NOW);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it.each(['released', 'abandoned', 'expired'] as const)(
    'I1 no oversell: an entry with a lease that is %s is not taken',
    async (what) => {
      const { mailbox, node, ledger, used, advance, first, second } = await startWithTwo();
      const { lease } = first.slot;
      if (what === 'released') await ledger.release(node, lease);
      if (what === 'abandoned') await ledger.abandon(node, lease);
      if (what === 'expired') {
        await ledger.commit(node, second.slot.lease, LONG_MS);
        await advance(RESERVED_MS + 1);
      }
      const before = await used();
      expect(ids(await mailbox.take(node, NOW))).toEqual([second.jobId]);
      expect(await used()).toBe(before);
      expect(await mailbox.take(node, NOW)).toEqual([]);
      await advance(RESERVED_MS + 1);
      expect(await used()).toBe(1);
    },
  );

  it('takes the requested number of live entries, skipping abandoned ones', async () => {
    const { mailbox, node, ledger, reserve } = await start();
    const entries = [await reserve(), await reserve(), await reserve(), await reserve()] as const;
    for (const entry of entries) await mailbox.put(node, entry);
    for (const at of [0, 2] as const) await ledger.abandon(node, entries[at].slot.lease);
    expect(ids(await mailbox.take(node, { max: 2, waitMs: 0 }))).toEqual([
      entries[1].jobId,
      entries[3].jobId,
    ]);
  });

  it('a take does not extend an abandoned lease', async () => {
    const { mailbox, node, ledger, first, used, advance } = await startWithTwo();
    await ledger.abandon(node, first.slot.lease, RESERVED_MS);
    await mailbox.take(node, NOW);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
    expect(await ledger.release(node, first.slot.lease)).toMatchObject({ kind: 'absent' });
  });

  it('takes an entry whose abandoned lease was committed late', async () => {
    const { mailbox, node, ledger, first, second } = await startWithTwo();
    await ledger.abandon(node, first.slot.lease);
    await ledger.commit(node, first.slot.lease, LONG_MS, true);
    expect(ids(await mailbox.take(node, NOW))).toEqual([first.jobId, second.jobId]);
  });

  it('a race of take and abandon never hands out an abandoned entry', async () => {
    const { mailbox, node, ledger, reserve } = await start(20);
    for (const entry of await Promise.all(times(20, () => reserve()))) {
      await mailbox.put(node, entry);
      const [taken] = await Promise.all([mailbox.take(node, NOW), ledger.abandon(node, entry.slot.lease)]);
      expect(taken.length).toBeLessThanOrEqual(1);
      expect(await mailbox.take(node, NOW)).toEqual([]);
    }
  });

  it('a waiting take continues after an entry without a lease', async () => {
    const { mailbox, node, ledger, reserve, advance } = await start();
    const waiting = mailbox.take(node, { max: 1, waitMs: 10_000 });
    await advance(20);
    const [gone, live] = [await reserve(), await reserve()];
    await ledger.release(node, gone.slot.lease);
    await mailbox.put(node, gone);
    await advance(20);
    await mailbox.put(node, live);
    expect(ids(await waiting)).toEqual([live.jobId]);
  });

  it('I2 no leak: a report without the job ends a taken lease', async () => {
    const { mailbox, node, ledger, used, advance, first } = await startWithTwo();
    await mailbox.take(node, { max: 1, waitMs: 0 });
    await advance(100);
    await ledger.reconcile(node, { running: 0, runningJobIds: [first.jobId], takenMs: 50 });
    expect(await used()).toBe(2);
    await ledger.reconcile(node, { running: 0, runningJobIds: [], takenMs: 50 });
    // The other entry was not fetched: a report proves nothing about it.
    expect(await used()).toBe(1);
  });

  it('I2 no leak: an abandoned lease ends, fetched or not', async () => {
    const { mailbox, node, ledger, used, advance, first, second } = await startWithTwo();
    await mailbox.take(node, { max: 1, waitMs: 0 });
    for (const { slot } of [first, second]) await ledger.abandon(node, slot.lease, RESERVED_MS);
    expect(await used()).toBe(2);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(0);
    expect(await mailbox.take(node, NOW)).toEqual([]);
  });

  it('a drop does not change the lease of the entry', async () => {
    const { mailbox, node, used, advance, first, second } = await startWithTwo();
    await mailbox.take(node, { max: 1, waitMs: 0 });
    expect(await mailbox.drop(node, first.jobId)).toBe(false);
    expect(await mailbox.drop(node, second.jobId)).toBe(true);
    expect(await used()).toBe(2);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(1);
  });

  it('hands out an entry again after an aborted take', async () => {
    const { mailbox, node, used, advance, first, second } = await startWithTwo();
    const leaving = new AbortController();
    const taking = mailbox.take(node, { max: 1, waitMs: 0, signal: leaving.signal });
    leaving.abort();
    // A store that answers at once may have handed the entry out before the abort.
    const aborted = ids(await taking);
    const again = ids(await mailbox.take(node, NOW));
    expect([...aborted, ...again]).toEqual([first.jobId, second.jobId]);
    await advance(RESERVED_MS + 1);
    expect(await used()).toBe(2);
  });
}
