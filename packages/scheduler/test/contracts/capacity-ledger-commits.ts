/** Contract of CapacityLedger: the commit before a hand-over, the abandoned lease, and the late commit. */
import { describe, expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { StartNode } from './capacity-ledger-reports.ts';
import { edgeOf, fresh, holdsBefore, times } from './harness.ts';

const LONG_MS = 60_000;
/** Long enough for the calls of a test on a real store. */
const SHORT_MS = 300;

const newLease = (): string => leaseId(fresh('job'), 1);
const countKinds = (results: readonly { kind: string }[], kind: string): number =>
  results.filter((result) => result.kind === kind).length;

export function capacityLedgerCommits(startNode: StartNode): void {
  /** A node that holds one lease. */
  async function startReserved(slots: number, ttlMs = LONG_MS) {
    const started = await startNode(slots);
    const lease = newLease();
    await started.ledger.reserve(started.node, lease, ttlMs);
    return { ...started, lease };
  }

  /** A node that abandoned one lease. */
  async function startAbandoned(slots: number) {
    const started = await startReserved(slots);
    await started.ledger.abandon(started.node, started.lease);
    return started;
  }

  describe('commit', () => {
    it('extends a live lease to the given time from the commit', async () => {
      const harness = await startReserved(1, 2 * SHORT_MS);
      const { ledger, node, lease, advance, load } = harness;
      const [begunAt, ttlMs] = [performance.now(), 3 * SHORT_MS];
      expect(await ledger.commit(node, lease, ttlMs)).toEqual({ kind: 'committed', used: 1, max: 1 });
      await advance(ttlMs - edgeOf(harness));
      await holdsBefore(harness, begunAt, ttlMs, async () =>
        expect(await load()).toEqual({ used: 1, max: 1 }),
      );
      await advance(edgeOf(harness));
      expect(await load()).toEqual({ used: 0, max: 1 });
    });

    it('extends only a live lease', async () => {
      const { ledger, node, advance, load } = await startNode(3);
      const [expired, released, unknown] = [newLease(), newLease(), newLease()];
      await ledger.reserve(node, expired, 50);
      await ledger.reserve(node, released, LONG_MS);
      await ledger.release(node, released);
      await advance(50);
      for (const lease of [expired, released, unknown])
        expect(await ledger.commit(node, lease, LONG_MS)).toEqual({ kind: 'absent', used: 0, max: 3 });
      expect(await load()).toEqual({ used: 0, max: 3 });
      for (const lease of [expired, released, unknown])
        expect(await ledger.release(node, lease)).toMatchObject({ kind: 'absent' });
    });

    it('takes no slot, however many commits race', async () => {
      const { ledger, node, load } = await startNode(1);
      const results = await Promise.all(times(20, () => ledger.commit(node, newLease(), LONG_MS)));
      expect(countKinds(results, 'absent')).toBe(20);
      expect(await load()).toEqual({ used: 0, max: 1 });
    });

    it('counts a lease once that is committed twice', async () => {
      const { ledger, node, lease } = await startReserved(2);
      for (const _ of [1, 2])
        expect(await ledger.commit(node, lease, LONG_MS)).toEqual({ kind: 'committed', used: 1, max: 2 });
    });

    it('never shortens a lease', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(1);
      expect(await ledger.commit(node, lease, 50)).toMatchObject({ kind: 'committed' });
      await advance(60);
      expect(await load()).toEqual({ used: 1, max: 1 });
    });

    it('refuses an abandoned lease', async () => {
      const { ledger, node, lease, load } = await startAbandoned(2);
      expect(await ledger.commit(node, lease, LONG_MS)).toEqual({ kind: 'abandoned', used: 1, max: 2 });
      expect(await load()).toEqual({ used: 1, max: 2 });
    });

    it('does not extend an abandoned lease', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(2, 50);
      await ledger.abandon(node, lease);
      await ledger.commit(node, lease, LONG_MS);
      await advance(50);
      expect(await load()).toEqual({ used: 0, max: 2 });
    });

    it('accepts or refuses an abandoned lease, whichever call comes first', async () => {
      const { ledger, node } = await startNode(20);
      for (const lease of times(20, newLease)) {
        await ledger.reserve(node, lease, LONG_MS);
        const [committed] = await Promise.all([
          ledger.commit(node, lease, LONG_MS),
          ledger.abandon(node, lease),
        ]);
        expect(['committed', 'abandoned']).toContain(committed.kind);
        expect(await ledger.commit(node, lease, LONG_MS)).toMatchObject({ kind: 'abandoned' });
      }
    });
  });

  describe('late commit', () => {
    it('removes the mark: later commits are accepted', async () => {
      const { ledger, node, lease } = await startAbandoned(2);
      const committed = { kind: 'committed', used: 1, max: 2 };
      expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual(committed);
      expect(await ledger.commit(node, lease, LONG_MS)).toEqual(committed);
    });

    it('removes the mark: a report without the job keeps the lease', async () => {
      const { ledger, node, lease } = await startAbandoned(2);
      await ledger.commit(node, lease, LONG_MS, true);
      expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
      expect(await ledger.release(node, lease)).toMatchObject({ kind: 'released' });
    });

    it('extends a lease that was shortened', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(1);
      await ledger.abandon(node, lease, SHORT_MS);
      await ledger.commit(node, lease, LONG_MS, true);
      await advance(SHORT_MS);
      expect(await load()).toEqual({ used: 1, max: 1 });
    });

    it('takes a free slot again for an ended lease', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(2, 50);
      await ledger.reserve(node, newLease(), LONG_MS);
      await advance(50);
      const committed = { kind: 'committed', used: 2, max: 2 };
      for (const _ of [1, 2]) expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual(committed);
      expect(await load()).toEqual({ used: 2, max: 2 });
      await advance(60);
      expect(await load()).toEqual({ used: 2, max: 2 });
    });

    it('answers full when no slot is free, and takes nothing', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(1, 50);
      const rival = newLease();
      await advance(50);
      await ledger.reserve(node, rival, LONG_MS);
      expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual({ kind: 'full', used: 1, max: 1 });
      expect(await ledger.release(node, lease)).toMatchObject({ kind: 'absent' });
      await ledger.release(node, rival);
      expect(await load()).toEqual({ used: 0, max: 1 });
    });

    it('keeps a live lease on a node with more leases than slots', async () => {
      const { ledger, node, lease } = await startAbandoned(2);
      await ledger.reserve(node, newLease(), LONG_MS);
      await ledger.declare(node, { slots: 1, isAccepting: true });
      expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual({ kind: 'committed', used: 2, max: 1 });
    });

    it('ignores the report of the node, which may count this job', async () => {
      const { ledger, node, lease, advance } = await startReserved(1, 50);
      await advance(50);
      await ledger.reconcile(node, { running: 1 });
      expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual({ kind: 'committed', used: 1, max: 1 });
    });

    it('starts an ended lease again without its earlier marks', async () => {
      const harness = await startReserved(3, SHORT_MS);
      const { ledger, node, lease, advance } = harness;
      await ledger.commit(node, lease, SHORT_MS);
      await ledger.reconcile(node, { running: 1 });
      await advance(SHORT_MS + edgeOf(harness));
      expect(await ledger.commit(node, lease, LONG_MS, true)).toMatchObject({ kind: 'committed' });
      // It was committed just now, so the report may be older.
      const report = { running: 0, runningJobIds: [], takenMs: SHORT_MS };
      expect(await ledger.reconcile(node, report)).toEqual({ used: 1, max: 3 });
      expect(await ledger.release(node, lease)).toMatchObject({ kind: 'released' });
    });

    it('starts an ended lease again: the earlier report did not count it', async () => {
      const { ledger, node, lease, advance } = await startReserved(3, SHORT_MS);
      await ledger.reconcile(node, { running: 2 });
      await advance(SHORT_MS);
      await ledger.commit(node, lease, LONG_MS, true);
      expect(await ledger.release(node, lease)).toEqual({ kind: 'released', used: 2, max: 3 });
    });

    it('I1 no oversell when late commits and reserves race', async () => {
      const { ledger, node, advance, load } = await startNode(2);
      const late = times(2, newLease);
      for (const lease of late) await ledger.reserve(node, lease, 50);
      await advance(50);
      const results = await Promise.all(
        times(40, (index) =>
          index % 2 === 0
            ? ledger.commit(node, newLease(), LONG_MS, true)
            : ledger.reserve(node, newLease(), LONG_MS),
        ),
      );
      expect(countKinds(results, 'committed') + countKinds(results, 'reserved')).toBe(2);
      expect(countKinds(results, 'full')).toBe(38);
      for (const lease of late)
        expect(await ledger.commit(node, lease, LONG_MS, true)).toMatchObject({ kind: 'full' });
      expect(await load()).toEqual({ used: 2, max: 2 });
    });

    it('gives a lease one slot, however many late commits race', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(2, 50);
      await advance(50);
      const results = await Promise.all(times(20, () => ledger.commit(node, lease, LONG_MS, true)));
      expect(countKinds(results, 'committed')).toBe(20);
      expect(await load()).toEqual({ used: 1, max: 2 });
    });
  });

  describe('abandon', () => {
    it('keeps the lease until a report does not name its job', async () => {
      const { ledger, node, load } = await startNode(2);
      const job = fresh('job');
      const lease = leaseId(job, 1);
      await ledger.reserve(node, lease, LONG_MS);
      for (const _ of [1, 2]) await ledger.abandon(node, lease);
      expect(await load()).toEqual({ used: 1, max: 2 });
      expect(await ledger.reconcile(node, { running: 0 })).toEqual({ used: 1, max: 2 });
      expect(await ledger.reconcile(node, { running: 1, runningJobIds: [job] })).toEqual({ used: 1, max: 2 });
      const report = { running: 0, runningJobIds: [fresh('job')] };
      expect(await ledger.reconcile(node, report)).toEqual({ used: 0, max: 2 });
      expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 0, max: 2 });
    });

    it('shortens the lease to the given time', async () => {
      const harness = await startReserved(1);
      const { ledger, node, lease, advance, load } = harness;
      const begunAt = performance.now();
      await ledger.abandon(node, lease, SHORT_MS);
      await advance(SHORT_MS - edgeOf(harness));
      await holdsBefore(harness, begunAt, SHORT_MS, async () =>
        expect(await load()).toEqual({ used: 1, max: 1 }),
      );
      await advance(edgeOf(harness));
      expect(await load()).toEqual({ used: 0, max: 1 });
      expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'reserved' });
    });

    it('shortens a committed lease', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(1);
      await ledger.commit(node, lease, LONG_MS);
      await ledger.abandon(node, lease, 50);
      await advance(50);
      expect(await load()).toEqual({ used: 0, max: 1 });
    });

    it('shortens a lease that was abandoned before', async () => {
      const { ledger, node, lease, advance, load } = await startAbandoned(1);
      await ledger.abandon(node, lease, 50);
      await advance(50);
      expect(await load()).toEqual({ used: 0, max: 1 });
    });

    it('never extends a lease', async () => {
      const { ledger, node, lease, advance, load } = await startReserved(2, 50);
      const shortened = newLease();
      await ledger.reserve(node, shortened, LONG_MS);
      await ledger.abandon(node, lease, LONG_MS);
      await ledger.abandon(node, shortened, 50);
      await ledger.abandon(node, shortened, LONG_MS);
      await ledger.abandon(node, shortened);
      await advance(60);
      expect(await load()).toEqual({ used: 0, max: 2 });
    });

    it('does not take or revive a lease', async () => {
      const { ledger, node, advance, load } = await startNode(2);
      const lease = newLease();
      await ledger.abandon(node, lease, LONG_MS);
      expect(await load()).toEqual({ used: 0, max: 2 });
      await ledger.reserve(node, lease, 50);
      await advance(50);
      await ledger.abandon(node, lease, LONG_MS);
      expect(await load()).toEqual({ used: 0, max: 2 });
    });

    it('keeps the mark when the lease is reserved again', async () => {
      const { ledger, node, lease } = await startAbandoned(2);
      expect(await ledger.reserve(node, lease, LONG_MS)).toMatchObject({ kind: 'already' });
      expect(await ledger.commit(node, lease, LONG_MS)).toMatchObject({ kind: 'abandoned' });
    });

    it('marks nothing that is not held', async () => {
      const { ledger, node } = await startNode(2);
      const lease = newLease();
      await ledger.abandon(node, lease);
      await ledger.reserve(node, lease, LONG_MS);
      expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
      expect(await ledger.commit(node, lease, LONG_MS)).toMatchObject({ kind: 'committed' });
    });

    it('ends the mark with the lease', async () => {
      const { ledger, node, advance } = await startNode(2);
      const [released, expired] = [newLease(), newLease()];
      await ledger.reserve(node, released, LONG_MS);
      await ledger.reserve(node, expired, LONG_MS);
      await ledger.abandon(node, released);
      await ledger.abandon(node, expired, 50);
      await ledger.release(node, released);
      await advance(50);
      for (const lease of [released, expired]) await ledger.reserve(node, lease, LONG_MS);
      expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 2, max: 2 });
      for (const lease of [released, expired])
        expect(await ledger.commit(node, lease, LONG_MS)).toMatchObject({ kind: 'committed' });
    });

    it('an abandoned lease ends by release and by expiry', async () => {
      const { ledger, node, advance, load } = await startNode(2);
      const [a, b] = [newLease(), newLease()];
      await ledger.reserve(node, a, LONG_MS);
      await ledger.reserve(node, b, 50);
      for (const lease of [a, b]) await ledger.abandon(node, lease);
      expect(await ledger.release(node, a)).toMatchObject({ kind: 'released' });
      await advance(50);
      expect(await load()).toEqual({ used: 0, max: 2 });
    });
  });
}
