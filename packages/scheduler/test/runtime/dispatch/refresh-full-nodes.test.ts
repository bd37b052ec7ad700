/** Nodes that seem full because a hint was lost: a dispatch without a slot has their loads read again. */
import { describe, expect, it } from 'vitest';
import type { CapacityLedger } from '../../../src/ports/capacity-ledger.ts';
import {
  createRefreshFullNodes,
  MAX_NODES_PER_READ,
} from '../../../src/runtime/dispatch/refresh-full-nodes.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { nodeView } from '../fleet/fleet-fixture.ts';
import { createRig } from '../rigs/rig.ts';

const READ_DELAY_MS = 520;
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Other instances share the ledger. */
const SHARED: JobDrivers = { claim: async () => ({ kind: 'unknown' }) } as unknown as JobDrivers;

async function createMisled({ isShared = true } = {}) {
  const reads: string[][] = [];
  const wrapLedger = (ledger: CapacityLedger): CapacityLedger => ({
    ...ledger,
    loads(nodeIds) {
      reads.push([...nodeIds]);
      return ledger.loads(nodeIds);
    },
  });
  const rig = createRig({ wrapLedger, ...(isShared && { drivers: SHARED }) });
  await rig.addNode('node-a');
  // Another instance took the slot; the hint of its release was lost.
  rig.fleet.setLoad('node-a', { used: 1, max: 1 });
  return { rig, reads };
}

describe('a node that only seems full', () => {
  it('gets a waiting job soon', async () => {
    const { rig } = await createMisled();
    const waiting = rig.dispatch({ waitMs: 5_000 });
    await rig.clock.advance(READ_DELAY_MS);
    await waiting;
    expect(rig.sent).toHaveLength(1);
  });

  it('gets the next job after a refused one', async () => {
    const { rig } = await createMisled();
    await expect(rig.dispatch()).rejects.toThrow('ALL_CANDIDATES_FULL_OR_FAILED');
    await rig.clock.advance(READ_DELAY_MS);
    await rig.dispatch();
    expect(rig.sent).toHaveLength(1);
  });

  it('is read once for many refusals, and not without waiting jobs', async () => {
    const { rig, reads } = await createMisled();
    rig.ledger.reserve('node-a', 'other:1', 60_000);
    for (let times = 0; times < 10; times += 1) await expect(rig.dispatch()).rejects.toThrow('FULL');
    await rig.clock.advance(10 * READ_DELAY_MS);
    expect(reads).toEqual([['node-a']]);
  });

  it('is read repeatedly while a job waits', async () => {
    const { rig, reads } = await createMisled();
    rig.ledger.reserve('node-a', 'other:1', 60_000);
    const waiting = rig.dispatch({ waitMs: 4 * READ_DELAY_MS }).catch(String);
    await rig.clock.advance(3 * READ_DELAY_MS);
    expect(reads.length).toBeGreaterThan(1);
    await rig.clock.advance(2 * READ_DELAY_MS);
    expect(await waiting).toContain('FULL');
    const looks = reads.length;
    await rig.clock.advance(10 * READ_DELAY_MS);
    expect(reads).toHaveLength(looks);
  });

  it('is not read for a job that it cannot run', async () => {
    const { rig, reads } = await createMisled();
    const need = { ...rig.request().need, services: ['unheard-of'] };
    await expect(rig.dispatch({ need })).rejects.toThrow('NO_CAPABLE_NODE');
    await rig.clock.advance(READ_DELAY_MS);
    expect(reads).toEqual([]);
  });

  it('is not read when no other instance takes slots', async () => {
    const { rig, reads } = await createMisled({ isShared: false });
    await expect(rig.dispatch()).rejects.toThrow('FULL');
    await rig.clock.advance(READ_DELAY_MS);
    expect(reads).toEqual([]);
  });
});

describe('refreshing full nodes', () => {
  function createLook(loads: CapacityLedger['loads']) {
    const clock = createManualClock();
    const fleet = createFleetView();
    const wheel = { set: (delayMs: number, run: () => void) => ({ cancel: clock.after(delayMs, run) }) };
    const state = { isAnyJobWaiting: false };
    const look = createRefreshFullNodes({
      fleet,
      ledger: { loads },
      wheel: wheel as never,
      isAnyJobWaiting: () => state.isAnyJobWaiting,
      log: QUIET,
    });
    return { clock, fleet, look, state };
  }

  it('reads a large fleet in parts (I6, I11)', async () => {
    const reads: string[] = [];
    const { clock, fleet, look, state } = createLook(async (nodeIds) => {
      expect(nodeIds.length).toBeLessThanOrEqual(MAX_NODES_PER_READ);
      reads.push(...nodeIds);
      return new Map();
    });
    const count = 3 * MAX_NODES_PER_READ;
    for (let n = 0; n < count; n++) {
      fleet.upsert(nodeView(`full-${n}`));
      fleet.setLoad(`full-${n}`, { used: 4, max: 4 });
      fleet.upsert(nodeView(`free-${n}`));
      fleet.upsert(nodeView(`cordoned-${n}`, { isCordoned: true }));
      fleet.setLoad(`cordoned-${n}`, { used: 4, max: 4 });
    }
    state.isAnyJobWaiting = true;
    look.needed();
    await clock.advance(3 * READ_DELAY_MS);
    expect(new Set(reads).size).toBe(count);
    expect(reads.every((nodeId) => nodeId.startsWith('full-'))).toBe(true);
  });

  it('goes on after a failed read and with no full nodes', async () => {
    let reads = 0;
    const { clock, fleet, look } = createLook(async () => {
      reads += 1;
      throw new Error('away');
    });
    look.needed();
    await clock.advance(READ_DELAY_MS);
    fleet.upsert(nodeView('full'));
    fleet.setLoad('full', { used: 4, max: 4 });
    for (let times = 0; times < 2; times += 1) {
      look.needed();
      await clock.advance(READ_DELAY_MS);
    }
    expect(reads).toBe(2);
  });
});
