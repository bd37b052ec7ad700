/** Contract of CapacityLedger: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import { capacityLedgerCommits } from './capacity-ledger-commits.ts';
import { capacityLedgerLateReports } from './capacity-ledger-late-reports.ts';
import { capacityLedgerModel } from './capacity-ledger-model.ts';
import { capacityLedgerReports } from './capacity-ledger-reports.ts';
import { type Closable, edgeOf, fresh, holdsBefore, perTest, type Timed, times } from './harness.ts';

export interface LedgerHarness extends Timed, Closable {
  readonly ledger: CapacityLedger;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

const newLease = (): string => leaseId(fresh('job'), 1);
const countKinds = (results: readonly { kind: string }[], kind: string): number =>
  results.filter((result) => result.kind === kind).length;

export function capacityLedgerContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`CapacityLedger: ${name}`, () => {
    const start = perTest(open);

    async function startNode(slots: number) {
      const harness = await start();
      const node = fresh('node');
      await harness.ledger.declare(node, { slots, isAccepting: true });
      const load = async () => (await harness.ledger.loads([node])).get(node);
      return { ...harness, node, load };
    }

    describe('slots', () => {
      it('does not know a node that was not declared, whatever is called', async () => {
        const { ledger } = await start();
        const node = fresh('node');
        const lease = newLease();
        expect(await ledger.reserve(node, lease, LONG_MS)).toEqual({ kind: 'unknown_node' });
        expect(await ledger.commit(node, lease, LONG_MS)).toEqual({ kind: 'unknown_node' });
        expect(await ledger.commit(node, lease, LONG_MS, true)).toEqual({ kind: 'unknown_node' });
        expect(await ledger.release(node, lease)).toEqual({ kind: 'unknown_node' });
        expect(await ledger.reconcile(node, { running: 3, runningJobIds: [] })).toBeUndefined();
        await ledger.abandon(node, lease);
        await ledger.forget(node);
        expect(await ledger.loads([node])).toEqual(new Map());
        expect(await ledger.declare(node, { slots: 2, isAccepting: true })).toEqual({ used: 0, max: 2 });
      });

      it('counts one slot per lease and answers with the load', async () => {
        const { ledger, node, load } = await startNode(2);
        const [a, b, c] = [newLease(), newLease(), newLease()];
        expect(await ledger.reserve(node, a, LONG_MS)).toEqual({ kind: 'reserved', used: 1, max: 2 });
        expect(await ledger.reserve(node, b, LONG_MS)).toEqual({ kind: 'reserved', used: 2, max: 2 });
        expect(await ledger.reserve(node, c, LONG_MS)).toEqual({ kind: 'full', used: 2, max: 2 });
        expect(await ledger.release(node, a)).toEqual({ kind: 'released', used: 1, max: 2 });
        expect(await ledger.reserve(node, c, LONG_MS)).toEqual({ kind: 'reserved', used: 2, max: 2 });
        expect(await load()).toEqual({ used: 2, max: 2 });
      });

      it('I1 no oversell when hundreds of reserves race for few slots', async () => {
        const { ledger, node, load } = await startNode(7);
        const results = await Promise.all(times(400, () => ledger.reserve(node, newLease(), LONG_MS)));
        expect(countKinds(results, 'reserved')).toBe(7);
        expect(countKinds(results, 'full')).toBe(393);
        expect(results.every((result) => 'used' in result && result.used <= 7)).toBe(true);
        expect(await load()).toEqual({ used: 7, max: 7 });
      });

      it('I1 no oversell when reserves race on several nodes', async () => {
        const { ledger } = await start();
        const nodes = times(3, () => fresh('node'));
        for (const [index, node] of nodes.entries())
          await ledger.declare(node, { slots: index + 1, isAccepting: true });
        const tries = times(150, (index) => nodes[index % 3] as string);
        const results = await Promise.all(tries.map((node) => ledger.reserve(node, newLease(), LONG_MS)));
        for (const [index, node] of nodes.entries()) {
          const here = results.filter((_, at) => tries[at] === node);
          expect(countKinds(here, 'reserved')).toBe(index + 1);
        }
      });

      it('I1 no oversell when reserves, commits, releases and repeats race', async () => {
        const { ledger, node, load } = await startNode(3);
        const held = new Set<string>();
        let most = 0;
        const work = async () => {
          for (let round = 0; round < 6; round += 1) {
            const lease = newLease();
            const [first, second] = await Promise.all([
              ledger.reserve(node, lease, LONG_MS),
              ledger.reserve(node, lease, LONG_MS),
            ]);
            if (first.kind !== 'reserved' && second.kind !== 'reserved') continue;
            held.add(lease);
            most = Math.max(most, held.size);
            await ledger.commit(node, lease, LONG_MS);
            held.delete(lease);
            await Promise.all([ledger.release(node, lease), ledger.release(node, lease)]);
          }
        };
        await Promise.all(times(40, work));
        expect(most).toBeGreaterThan(0);
        expect(most).toBeLessThanOrEqual(3);
        expect(await load()).toEqual({ used: 0, max: 3 });
      });

      it('counts a lease of the same name on each node separately', async () => {
        const { ledger, node, load } = await startNode(1);
        const other = fresh('node');
        await ledger.declare(other, { slots: 1, isAccepting: true });
        const lease = newLease();
        expect(await ledger.reserve(node, lease, LONG_MS)).toMatchObject({ kind: 'reserved' });
        expect(await ledger.reserve(other, lease, LONG_MS)).toMatchObject({ kind: 'reserved' });
        expect(await ledger.release(other, lease)).toMatchObject({ kind: 'released' });
        expect(await load()).toEqual({ used: 1, max: 1 });
      });

      it('ends a lease and keeps leases of the same name elsewhere', async () => {
        const { ledger } = await start();
        const lease = newLease();
        const nodes = times(3, () => fresh('node'));
        for (const node of nodes) {
          await ledger.declare(node, { slots: 1, isAccepting: true });
          await ledger.reserve(node, lease, LONG_MS);
        }
        const used = async () => {
          const loads = await ledger.loads(nodes);
          return nodes.map((node) => loads.get(node)?.used);
        };
        const [first = '', middle = '', last = ''] = nodes;
        await ledger.release(middle, lease);
        expect(await used()).toEqual([1, 0, 1]);
        await ledger.release(last, lease);
        expect(await used()).toEqual([1, 0, 0]);
        expect(await ledger.reserve(middle, lease, LONG_MS)).toMatchObject({ kind: 'reserved' });
        await ledger.forget(first);
        expect(await used()).toEqual([undefined, 1, 0]);
      });
    });

    describe('repeats', () => {
      it('gives a lease one slot, however often it is reserved', async () => {
        const { ledger, node, load } = await startNode(5);
        const lease = newLease();
        const results = await Promise.all(times(100, () => ledger.reserve(node, lease, LONG_MS)));
        expect(countKinds(results, 'reserved')).toBe(1);
        expect(countKinds(results, 'already')).toBe(99);
        expect(await load()).toEqual({ used: 1, max: 5 });
      });

      it('answers already, not full, when a reserve is repeated', async () => {
        const { ledger, node } = await startNode(1);
        const lease = newLease();
        await ledger.reserve(node, lease, LONG_MS);
        expect(await ledger.reserve(node, lease, LONG_MS)).toEqual({ kind: 'already', used: 1, max: 1 });
      });

      it('releases a slot once, however often release is called', async () => {
        const { ledger, node, load } = await startNode(3);
        const [lease, other] = [newLease(), newLease()];
        await ledger.reserve(node, lease, LONG_MS);
        await ledger.reserve(node, other, LONG_MS);
        const results = await Promise.all(times(50, () => ledger.release(node, lease)));
        expect(countKinds(results, 'released')).toBe(1);
        expect(countKinds(results, 'absent')).toBe(49);
        expect(await load()).toEqual({ used: 1, max: 3 });
      });

      it('keeps other leases when an unknown lease is released', async () => {
        const { ledger, node } = await startNode(2);
        await ledger.reserve(node, newLease(), LONG_MS);
        expect(await ledger.release(node, newLease())).toEqual({ kind: 'absent', used: 1, max: 2 });
      });

      it.each(['commit', 'reserve'] as const)(
        'keeps the end set by a %s after a shorter reserve',
        async (verb) => {
          const { ledger, node, advance, load } = await startNode(1);
          const lease = newLease();
          await ledger.reserve(node, lease, 100);
          await ledger[verb](node, lease, LONG_MS);
          expect(await ledger.reserve(node, lease, 100)).toMatchObject({ kind: 'already' });
          await advance(110);
          expect(await load()).toEqual({ used: 1, max: 1 });
        },
      );

      it('keeps leases when a node is declared again', async () => {
        const { ledger, node } = await startNode(2);
        await ledger.reserve(node, newLease(), LONG_MS);
        expect(await ledger.declare(node, { slots: 2, isAccepting: true })).toEqual({ used: 1, max: 2 });
      });
    });

    describe('expiry', () => {
      it('keeps a lease until its expiry, and no longer', async () => {
        const harness = await startNode(1);
        const { ledger, node, advance, load } = harness;
        const begunAt = performance.now();
        await ledger.reserve(node, newLease(), SHORT_MS);
        await advance(SHORT_MS - edgeOf(harness));
        await holdsBefore(harness, begunAt, SHORT_MS, async () =>
          expect(await load()).toEqual({ used: 1, max: 1 }),
        );
        await advance(edgeOf(harness));
        expect(await load()).toEqual({ used: 0, max: 1 });
        expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({
          kind: 'reserved',
          used: 1,
          max: 1,
        });
      });

      it('answers absent for an expired lease, which can be reserved again', async () => {
        const { ledger, node, advance } = await startNode(1);
        const lease = newLease();
        await ledger.reserve(node, lease, 50);
        await advance(50);
        expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 0, max: 1 });
        expect(await ledger.reserve(node, lease, LONG_MS)).toEqual({ kind: 'reserved', used: 1, max: 1 });
      });
    });

    describe('commits and abandoned leases', () => capacityLedgerCommits(startNode));

    describe('capacity and reports', () => capacityLedgerReports(startNode));

    describe('late reports', () => capacityLedgerLateReports(startNode));

    describe('model', () => capacityLedgerModel(start));
  });
}
