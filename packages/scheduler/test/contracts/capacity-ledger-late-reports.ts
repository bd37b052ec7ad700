/** Contract of CapacityLedger, third part: reports that jobs may have overtaken on their way. */
import { expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { capacityLedgerReports } from './capacity-ledger-reports.ts';
import { edgeOf, fresh } from './harness.ts';

const LONG_MS = 60_000;

type StartNode = Parameters<typeof capacityLedgerReports>[0];

export function capacityLedgerLateReports(startNode: StartNode): void {
  async function startFenced() {
    const started = await startNode(2);
    const lease = leaseId(fresh('job'), 1);
    await started.ledger.reserve(started.node, lease, LONG_MS);
    await started.ledger.fence(started.node, lease);
    const ageMs = 2 * edgeOf(started);
    const report = () => started.ledger.reconcile(started.node, { running: 0, runningJobIds: [], ageMs });
    return { ...started, lease, ageMs, report };
  }

  it('I1 no oversell: a report frees nothing that was fenced after it may have been written', async () => {
    const { report, advance, ageMs } = await startFenced();
    expect(await report()).toEqual({ used: 1, max: 2 });
    await advance(ageMs);
    expect(await report()).toEqual({ used: 0, max: 2 });
  });

  it('counts from the first time that a lease was fenced', async () => {
    const { ledger, node, lease, report, advance, ageMs } = await startFenced();
    await advance(ageMs);
    await ledger.fence(node, lease);
    expect(await report()).toEqual({ used: 0, max: 2 });
  });

  it('begins anew with a lease that was taken again meanwhile', async () => {
    const { ledger, node, lease, report, advance, ageMs } = await startFenced();
    await advance(ageMs);
    await ledger.commit(node, lease, LONG_MS);
    await ledger.fence(node, lease);
    expect(await report()).toEqual({ used: 1, max: 2 });
  });
}
