/** Contract of CapacityLedger: slots that change, reports of nodes, and how everything ends. */
import { expect, it } from 'vitest';
import type { NodeId } from '../../src/domain/ids.ts';
import { type Load, leaseId } from '../../src/domain/lease.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import { fresh, type Timed, times } from './harness.ts';

const LONG_MS = 60_000;
const newLease = (): string => leaseId(fresh('job'), 1);

export interface StartedNode extends Timed {
  readonly ledger: CapacityLedger;
  readonly node: NodeId;
  load(): Promise<Load | undefined>;
}

export type StartNode = (slots: number) => Promise<StartedNode>;

export function capacityLedgerReports(startNode: StartNode): void {
  it('refuses new leases and keeps existing ones while a node accepts nothing', async () => {
    const { ledger, node, load } = await startNode(2);
    const [a, b] = [newLease(), newLease()];
    await ledger.reserve(node, a, LONG_MS);
    expect(await ledger.declare(node, { slots: 2, isAccepting: false })).toEqual({ used: 1, max: 2 });
    expect(await ledger.reserve(node, b, LONG_MS)).toEqual({ kind: 'not_ready' });
    expect(await ledger.commit(node, a, LONG_MS)).toEqual({ kind: 'committed', used: 1, max: 2 });
    expect(await load()).toEqual({ used: 1, max: 2 });
    expect(await ledger.release(node, a)).toEqual({ kind: 'released', used: 0, max: 2 });
    await ledger.declare(node, { slots: 2, isAccepting: true });
    expect(await ledger.reserve(node, b, LONG_MS)).toMatchObject({ kind: 'reserved' });
  });

  it('ignores a declaration of an older claim', async () => {
    const { ledger, node } = await startNode(2);
    const declare = (slots: number, isAccepting: boolean, claim?: number) =>
      ledger.declare(node, { slots, isAccepting, claim });
    const reserve = () => ledger.reserve(node, newLease(), LONG_MS);
    await declare(4, true, 9);
    expect(await declare(2, false, 7)).toEqual({ used: 0, max: 4 });
    expect(await reserve()).toMatchObject({ kind: 'reserved', max: 4 });
    await declare(4, false, 9);
    expect(await reserve()).toEqual({ kind: 'not_ready' });
    await declare(3, true);
    expect(await reserve()).toMatchObject({ kind: 'reserved', max: 3 });
  });

  it('keeps leases beyond fewer slots, and refuses new ones', async () => {
    const { ledger, node } = await startNode(3);
    const [a, b, c] = [newLease(), newLease(), newLease()];
    for (const lease of [a, b, c]) await ledger.reserve(node, lease, LONG_MS);
    expect(await ledger.declare(node, { slots: 1, isAccepting: true })).toEqual({ used: 3, max: 1 });
    expect(await ledger.commit(node, a, LONG_MS)).toEqual({ kind: 'committed', used: 3, max: 1 });
    await ledger.release(node, a);
    await ledger.release(node, b);
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 1, max: 1 });
    await ledger.release(node, c);
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({
      kind: 'reserved',
      used: 1,
      max: 1,
    });
  });

  it('has no room with zero slots, and room after more slots', async () => {
    const { ledger, node } = await startNode(0);
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 0, max: 0 });
    await ledger.declare(node, { slots: 1, isAccepting: true });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'reserved' });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'full' });
  });

  it('answers with the loads of many nodes, without unknown nodes', async () => {
    const { ledger, node } = await startNode(4);
    const other = fresh('node');
    await ledger.declare(other, { slots: 1, isAccepting: false });
    await ledger.reserve(node, newLease(), LONG_MS);
    const loads = await ledger.loads([node, fresh('node'), other, node]);
    expect(loads).toEqual(
      new Map([
        [node, { used: 1, max: 4 }],
        [other, { used: 0, max: 1 }],
      ]),
    );
    expect(await ledger.loads([])).toEqual(new Map());
  });

  it('counts the larger of live leases and reported jobs', async () => {
    const { ledger, node } = await startNode(4);
    expect(await ledger.reconcile(node, { running: 3 })).toEqual({ used: 3, max: 4 });
    for (const lease of times(3, newLease)) {
      const used = (await ledger.reserve(node, lease, LONG_MS)) as Load;
      expect(used.used).toBe(3);
    }
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'reserved', used: 4, max: 4 });
    expect(await ledger.reconcile(node, { running: 1 })).toEqual({ used: 4, max: 4 });
  });

  it('reserves nothing on a node as long as it reports itself full', async () => {
    const { ledger, node } = await startNode(2);
    expect(await ledger.reconcile(node, { running: 5 })).toEqual({ used: 5, max: 2 });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 5, max: 2 });
    expect(await ledger.reconcile(node, { running: 1 })).toEqual({ used: 1, max: 2 });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'reserved', used: 1, max: 2 });
  });

  it('subtracts each lease released since the report once', async () => {
    const { ledger, node } = await startNode(4);
    const [a, b] = [newLease(), newLease()];
    await ledger.reserve(node, a, LONG_MS);
    await ledger.reserve(node, b, LONG_MS);
    expect(await ledger.reconcile(node, { running: 4 })).toEqual({ used: 4, max: 4 });
    expect(await ledger.release(node, a)).toEqual({ kind: 'released', used: 3, max: 4 });
    expect(await ledger.release(node, a)).toEqual({ kind: 'absent', used: 3, max: 4 });
    expect(await ledger.release(node, newLease())).toEqual({ kind: 'absent', used: 3, max: 4 });
    expect(await ledger.release(node, b)).toEqual({ kind: 'released', used: 2, max: 4 });
  });

  it('does not subtract earlier releases from a new report', async () => {
    const { ledger, node, load } = await startNode(4);
    const [a, b] = [newLease(), newLease()];
    await ledger.reserve(node, a, LONG_MS);
    await ledger.reserve(node, b, LONG_MS);
    await ledger.release(node, a);
    expect(await ledger.reconcile(node, { running: 3 })).toEqual({ used: 3, max: 4 });
    await ledger.release(node, b);
    expect(await ledger.reconcile(node, { running: 3 })).toEqual({ used: 3, max: 4 });
    expect(await load()).toEqual({ used: 3, max: 4 });
  });

  it('subtracts no lease that was reserved after the report', async () => {
    const { ledger, node, load } = await startNode(4);
    const [before, after] = [newLease(), newLease()];
    await ledger.reserve(node, before, LONG_MS);
    await ledger.reconcile(node, { running: 3 });
    await ledger.reserve(node, after, LONG_MS);
    expect(await ledger.release(node, after)).toEqual({ kind: 'released', used: 3, max: 4 });
    expect(await load()).toEqual({ used: 3, max: 4 });
    expect(await ledger.release(node, before)).toEqual({ kind: 'released', used: 2, max: 4 });
  });

  it('never counts fewer than the live leases, whatever was released', async () => {
    const { ledger, node, load } = await startNode(4);
    const leases = times(3, newLease);
    for (const lease of leases) await ledger.reserve(node, lease, LONG_MS);
    await ledger.reconcile(node, { running: 1 });
    await ledger.release(node, leases[0] as string);
    await ledger.release(node, leases[1] as string);
    expect(await load()).toEqual({ used: 1, max: 4 });
    await ledger.release(node, leases[2] as string);
    expect(await load()).toEqual({ used: 0, max: 4 });
  });

  it('keeps the report when the node is declared again', async () => {
    const { ledger, node } = await startNode(2);
    await ledger.reconcile(node, { running: 2 });
    expect(await ledger.declare(node, { slots: 3, isAccepting: true })).toEqual({ used: 2, max: 3 });
  });

  it('keeps a reserved lease that a report does not name', async () => {
    const { ledger, node } = await startNode(2);
    await ledger.reserve(node, newLease(), LONG_MS);
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
  });

  it('ends exactly the abandoned leases whose jobs are not named', async () => {
    const { ledger, node } = await startNode(5);
    // Names that contain one another, and the separator of leases.
    const root = fresh('job');
    const [gone, running, plain] = [root, `${root}:1`, `${root}0`];
    for (const job of [gone, running, plain]) await ledger.reserve(node, leaseId(job, 1), LONG_MS);
    await ledger.abandon(node, leaseId(gone, 1));
    await ledger.abandon(node, leaseId(running, 1));
    expect(await ledger.reconcile(node, { running: 1, runningJobIds: [running] })).toEqual({
      used: 2,
      max: 5,
    });
    expect(await ledger.release(node, leaseId(gone, 1))).toMatchObject({ kind: 'absent' });
    expect(await ledger.release(node, leaseId(running, 1))).toMatchObject({ kind: 'released' });
    expect(await ledger.release(node, leaseId(plain, 1))).toMatchObject({ kind: 'released' });
  });

  it('does not subtract a lease from the report that ended it', async () => {
    const { ledger, node } = await startNode(5);
    const lease = newLease();
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.abandon(node, lease);
    const report = { running: 2, runningJobIds: [fresh('job'), fresh('job')] };
    expect(await ledger.reconcile(node, report)).toEqual({ used: 2, max: 5 });
    expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 2, max: 5 });
  });

  it('forgets a node with its leases, marks and report', async () => {
    const { ledger, node, load } = await startNode(3);
    const other = fresh('node');
    const lease = newLease();
    await ledger.declare(other, { slots: 1, isAccepting: true });
    await ledger.reserve(other, lease, LONG_MS);
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.abandon(node, lease);
    await ledger.reconcile(node, { running: 3 });
    await ledger.forget(node);
    await ledger.forget(node);
    expect(await load()).toBeUndefined();
    expect(await ledger.reserve(node, lease, LONG_MS)).toEqual({ kind: 'unknown_node' });
    expect(await ledger.declare(node, { slots: 3, isAccepting: true })).toEqual({ used: 0, max: 3 });
    expect(await ledger.reserve(node, lease, LONG_MS)).toEqual({ kind: 'reserved', used: 1, max: 3 });
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 3 });
    expect((await ledger.loads([other])).get(other)).toEqual({ used: 1, max: 1 });
  });

  it('I2 no leak: nothing is used after every lease has ended', async () => {
    const { ledger, node, advance, load } = await startNode(50);
    const leases = times(60, newLease);
    await Promise.all(leases.map((lease) => ledger.reserve(node, lease, 100)));
    await Promise.all(
      leases.map((lease, index) => {
        if (index % 4 === 0) return ledger.release(node, lease);
        if (index % 4 === 1) return ledger.abandon(node, lease);
        if (index % 4 === 2) return ledger.commit(node, lease, 100);
        return ledger.reserve(node, lease, 100);
      }),
    );
    await advance(120);
    expect(await load()).toEqual({ used: 0, max: 50 });
    const again = await Promise.all(times(50, () => ledger.reserve(node, newLease(), LONG_MS)));
    expect(again.every((result) => result.kind === 'reserved')).toBe(true);
  });
}
