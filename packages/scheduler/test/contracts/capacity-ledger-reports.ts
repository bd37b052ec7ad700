/** Contract of CapacityLedger, second part: slots that change, what nodes report, fenced leases, and how everything ends. */
import { expect, it } from 'vitest';
import type { NodeId } from '../../src/domain/ids.ts';
import { type Load, leaseId } from '../../src/domain/lease.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import { fresh, type Timed, times } from './harness.ts';

const LONG_MS = 60_000;
const newLease = (): string => leaseId(fresh('job'), 1);

interface StartedNode extends Timed {
  readonly ledger: CapacityLedger;
  readonly node: NodeId;
  load(): Promise<Load | undefined>;
}

export function capacityLedgerReports(startNode: (slots: number) => Promise<StartedNode>): void {
  it('refuses new leases while the node is not accepting; held ones live on and end as ever', async () => {
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

  it('is not shut, nor made smaller, by a connection that lost the node to a newer one', async () => {
    const { ledger, node } = await startNode(2);
    const tell = (slots: number, isAccepting: boolean, claim?: number) =>
      ledger.declare(node, { slots, isAccepting, claim });
    const reserve = () => ledger.reserve(node, newLease(), LONG_MS);
    await tell(4, true, 9);
    expect(await tell(2, false, 7)).toEqual({ used: 0, max: 4 });
    expect(await reserve()).toMatchObject({ kind: 'reserved', max: 4 });
    await tell(4, false, 9);
    expect(await reserve()).toEqual({ kind: 'not_ready' });
    await tell(3, true);
    expect(await reserve()).toMatchObject({ kind: 'reserved', max: 3 });
  });

  it('lets leases beyond fewer slots live on; nothing new fits until enough of them end', async () => {
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

  it('has room for what more slots allow, and none with zero slots', async () => {
    const { ledger, node } = await startNode(0);
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 0, max: 0 });
    await ledger.declare(node, { slots: 1, isAccepting: true });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'reserved' });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toMatchObject({ kind: 'full' });
  });

  it('tells the loads of many nodes and leaves out the unknown', async () => {
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

  it('uses the larger of live leases and reported jobs', async () => {
    const { ledger, node } = await startNode(4);
    expect(await ledger.reconcile(node, { running: 3 })).toEqual({ used: 3, max: 4 });
    for (const lease of times(3, newLease)) {
      const used = (await ledger.reserve(node, lease, LONG_MS)) as Load;
      expect(used.used).toBe(3);
    }
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'reserved', used: 4, max: 4 });
    expect(await ledger.reconcile(node, { running: 1 })).toEqual({ used: 4, max: 4 });
  });

  it('refuses to reserve on a node that reports itself full, and serves again when it no longer does', async () => {
    const { ledger, node } = await startNode(2);
    expect(await ledger.reconcile(node, { running: 5 })).toEqual({ used: 5, max: 2 });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'full', used: 5, max: 2 });
    expect(await ledger.reconcile(node, { running: 1 })).toEqual({ used: 1, max: 2 });
    expect(await ledger.reserve(node, newLease(), LONG_MS)).toEqual({ kind: 'reserved', used: 1, max: 2 });
  });

  it('takes leases released since the report off the report, once each', async () => {
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

  it('forgets earlier releases with every new report', async () => {
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

  it('takes nothing off the report for a lease that was taken after it', async () => {
    const { ledger, node, load } = await startNode(4);
    const [before, after] = [newLease(), newLease()];
    await ledger.reserve(node, before, LONG_MS);
    await ledger.reconcile(node, { running: 3 });
    await ledger.reserve(node, after, LONG_MS);
    expect(await ledger.release(node, after)).toEqual({ kind: 'released', used: 3, max: 4 });
    expect(await load()).toEqual({ used: 3, max: 4 });
    expect(await ledger.release(node, before)).toEqual({ kind: 'released', used: 2, max: 4 });
  });

  it('never goes below the live leases or zero, whatever was released since the report', async () => {
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

  it('keeps a fenced lease until a report that names the running jobs leaves it out', async () => {
    const { ledger, node, load } = await startNode(2);
    const job = fresh('job');
    const lease = leaseId(job, 1);
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.fence(node, lease);
    await ledger.fence(node, lease);
    expect(await load()).toEqual({ used: 1, max: 2 });
    expect(await ledger.reconcile(node, { running: 0 })).toEqual({ used: 1, max: 2 });
    expect(await ledger.reconcile(node, { running: 1, runningJobIds: [job] })).toEqual({ used: 1, max: 2 });
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [fresh('job')] })).toEqual({
      used: 0,
      max: 2,
    });
    expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 0, max: 2 });
  });

  it('keeps a lease that is not fenced though the report does not name it: it may be on its way', async () => {
    const { ledger, node } = await startNode(2);
    await ledger.reserve(node, newLease(), LONG_MS);
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
  });

  it('drops exactly the fenced leases that are proven gone', async () => {
    const { ledger, node } = await startNode(5);
    // Names that contain one another, and the separator of leases.
    const root = fresh('job');
    const [gone, running, plain] = [root, `${root}:1`, `${root}0`];
    for (const job of [gone, running, plain]) await ledger.reserve(node, leaseId(job, 1), LONG_MS);
    await ledger.fence(node, leaseId(gone, 1));
    await ledger.fence(node, leaseId(running, 1));
    expect(await ledger.reconcile(node, { running: 1, runningJobIds: [running] })).toEqual({
      used: 2,
      max: 5,
    });
    expect(await ledger.release(node, leaseId(gone, 1))).toMatchObject({ kind: 'absent' });
    expect(await ledger.release(node, leaseId(running, 1))).toMatchObject({ kind: 'released' });
    expect(await ledger.release(node, leaseId(plain, 1))).toMatchObject({ kind: 'released' });
  });

  it('does not take a lease proven gone off the very report that proved it', async () => {
    const { ledger, node } = await startNode(5);
    const lease = newLease();
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.fence(node, lease);
    const report = { running: 2, runningJobIds: [fresh('job'), fresh('job')] };
    expect(await ledger.reconcile(node, report)).toEqual({ used: 2, max: 5 });
    expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 2, max: 5 });
  });

  it('ends a fenced lease by release and by expiry like any other', async () => {
    const { ledger, node, advance, load } = await startNode(2);
    const [a, b] = [newLease(), newLease()];
    await ledger.reserve(node, a, LONG_MS);
    await ledger.reserve(node, b, 50);
    await ledger.fence(node, a);
    await ledger.fence(node, b);
    expect(await ledger.release(node, a)).toMatchObject({ kind: 'released' });
    await advance(50);
    expect(await load()).toEqual({ used: 0, max: 2 });
  });

  it('does not lengthen, take or revive a lease by fencing it', async () => {
    const { ledger, node, advance, load } = await startNode(2);
    const lease = newLease();
    await ledger.fence(node, lease);
    expect(await load()).toEqual({ used: 0, max: 2 });
    await ledger.reserve(node, lease, 50);
    await ledger.fence(node, lease);
    await advance(50);
    await ledger.fence(node, lease);
    expect(await load()).toEqual({ used: 0, max: 2 });
  });

  it('fences nothing that is not held: the same lease taken later is not fenced', async () => {
    const { ledger, node } = await startNode(2);
    const lease = newLease();
    await ledger.fence(node, lease);
    await ledger.reserve(node, lease, LONG_MS);
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
  });

  it('ends the fence with its lease: the same lease taken anew is not fenced', async () => {
    const { ledger, node, advance } = await startNode(2);
    const [released, expired] = [newLease(), newLease()];
    await ledger.reserve(node, released, LONG_MS);
    await ledger.reserve(node, expired, 50);
    await ledger.fence(node, released);
    await ledger.fence(node, expired);
    await ledger.release(node, released);
    await advance(50);
    await ledger.reserve(node, released, LONG_MS);
    await ledger.reserve(node, expired, LONG_MS);
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 2, max: 2 });
  });

  it('ends the fence of a lease that is acknowledged after all: a report that does not name it drops nothing', async () => {
    const { ledger, node } = await startNode(2);
    const lease = newLease();
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.fence(node, lease);
    expect(await ledger.commit(node, lease, LONG_MS)).toEqual({ kind: 'committed', used: 1, max: 2 });
    expect(await ledger.reconcile(node, { running: 0, runningJobIds: [] })).toEqual({ used: 1, max: 2 });
    expect(await ledger.release(node, lease)).toMatchObject({ kind: 'released' });
  });

  it('forgets a node with its leases, fences and report, and no other node', async () => {
    const { ledger, node, load } = await startNode(3);
    const other = fresh('node');
    const lease = newLease();
    await ledger.declare(other, { slots: 1, isAccepting: true });
    await ledger.reserve(other, lease, LONG_MS);
    await ledger.reserve(node, lease, LONG_MS);
    await ledger.fence(node, lease);
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

  it('I2 no leak: when every lease is released or expired, used is 0', async () => {
    const { ledger, node, advance, load } = await startNode(50);
    const leases = times(60, newLease);
    await Promise.all(leases.map((lease) => ledger.reserve(node, lease, 100)));
    await Promise.all(
      leases.map((lease, index) => {
        if (index % 4 === 0) return ledger.release(node, lease);
        if (index % 4 === 1) return ledger.fence(node, lease);
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
