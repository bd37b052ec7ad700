/** Contract of CapacityLedger: what a report proves of leases that were abandoned or committed shortly before it arrived. */
import { describe, expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { LoadReport } from '../../src/ports/capacity-ledger.ts';
import type { StartNode } from './capacity-ledger-reports.ts';
import { edgeOf, fresh } from './harness.ts';

const LONG_MS = 60_000;

export function capacityLedgerLateReports(startNode: StartNode): void {
  async function startAbandoned() {
    const started = await startNode(2);
    const lease = leaseId(fresh('job'), 1);
    await started.ledger.reserve(started.node, lease, LONG_MS);
    await started.ledger.abandon(started.node, lease);
    const ageMs = 2 * edgeOf(started);
    const report = (age = ageMs) =>
      started.ledger.reconcile(started.node, { running: 0, runningJobIds: [], ageMs: age });
    return { ...started, lease, ageMs, report };
  }

  it('I1 no oversell: a report older than the mark ends no lease', async () => {
    const { report, advance, ageMs } = await startAbandoned();
    expect(await report(LONG_MS)).toEqual({ used: 1, max: 2 });
    await advance(ageMs);
    expect(await report()).toEqual({ used: 0, max: 2 });
  });

  it('counts from the first time that a lease was abandoned', async () => {
    const { ledger, node, lease, report, advance, ageMs } = await startAbandoned();
    await advance(ageMs);
    await ledger.abandon(node, lease);
    expect(await report()).toEqual({ used: 0, max: 2 });
  });

  it('a new mark counts again after a late commit removed the first', async () => {
    const { ledger, node, lease, report, advance, ageMs } = await startAbandoned();
    await advance(ageMs);
    await ledger.commit(node, lease, LONG_MS, true);
    await ledger.abandon(node, lease);
    expect(await report(LONG_MS)).toEqual({ used: 1, max: 2 });
  });

  it('I1 no oversell: a report of an older claim changes nothing', async () => {
    const { ledger, node, lease, advance, ageMs } = await startAbandoned();
    await ledger.declare(node, { slots: 2, isAccepting: true, claim: 9 });
    await advance(ageMs);
    const report = (claim: number | undefined) =>
      ledger.reconcile(node, { running: 2, claim, runningJobIds: [] });
    expect(await report(7)).toEqual({ used: 1, max: 2 });
    expect(await ledger.release(node, lease)).toEqual({ kind: 'released', used: 0, max: 2 });
    expect(await report(9)).toEqual({ used: 2, max: 2 });
  });

  describe('a committed lease', () => {
    async function startTaken() {
      const started = await startNode(3);
      const job = fresh('job');
      const takenMs = 2 * edgeOf(started);
      await started.ledger.reserve(started.node, leaseId(job, 1), LONG_MS);
      await started.ledger.commit(started.node, leaseId(job, 1), LONG_MS);
      const report = (runningJobIds: readonly string[], proof: Partial<LoadReport> = { takenMs }) =>
        started.ledger.reconcile(started.node, { running: runningJobIds.length, runningJobIds, ...proof });
      return { ...started, job, lease: leaseId(job, 1), takenMs, report };
    }

    it('I2 no leak: ends with a report that does not name it', async () => {
      const { ledger, node, job, lease, takenMs, advance, report } = await startTaken();
      await advance(takenMs);
      expect(await report([fresh('job'), job])).toEqual({ used: 2, max: 3 });
      expect(await report([])).toEqual({ used: 0, max: 3 });
      expect(await ledger.release(node, lease)).toEqual({ kind: 'absent', used: 0, max: 3 });
    });

    it('I1 no oversell: is kept if it was committed after the report', async () => {
      const { report, advance, takenMs } = await startTaken();
      expect(await report([])).toEqual({ used: 1, max: 3 });
      await advance(takenMs);
      expect(await report([])).toEqual({ used: 0, max: 3 });
    });

    it('counts from the first time that it was committed', async () => {
      const { ledger, node, lease, report, advance, takenMs } = await startTaken();
      await advance(takenMs);
      await ledger.commit(node, lease, LONG_MS);
      expect(await report([])).toEqual({ used: 0, max: 3 });
    });

    it('counts again from the start after a release and a new reserve', async () => {
      const { ledger, node, lease, report, advance, takenMs } = await startTaken();
      await ledger.release(node, lease);
      await ledger.reserve(node, lease, LONG_MS);
      await advance(takenMs);
      expect(await report([])).toEqual({ used: 1, max: 3 });
    });

    it('I1 no oversell: is kept if only reserved, or if takenMs is unknown', async () => {
      const { ledger, node, job, takenMs, advance, report } = await startTaken();
      await ledger.reserve(node, leaseId(fresh('job'), 1), LONG_MS);
      await advance(takenMs);
      expect(await report([job])).toEqual({ used: 2, max: 3 });
      expect(await report([], {})).toEqual({ used: 2, max: 3 });
      expect(await ledger.reconcile(node, { running: 0, takenMs })).toEqual({ used: 2, max: 3 });
    });
  });
}
