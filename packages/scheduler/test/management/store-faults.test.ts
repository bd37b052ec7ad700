/** While a store is unreachable no change is half done, no node is degraded, and work resumes by itself. */
import { describe, expect, it } from 'vitest';
import { aRegistration, COLD_REPORT, createFixture, READY_REPORT } from './registry-fixture.ts';

const REFUSED = { kind: 'refused', code: 'SCHEDULER_DEPENDENCY_DOWN' };

describe('a registration while a store does not answer', () => {
  for (const call of ['claim', 'declare', 'reconcile']) {
    it(`fails when "${call}" fails, and changes nothing`, async () => {
      const { registry, broken, events, nodeIdClaims, ledger, counts } = createFixture();
      broken.add(call);
      expect(await registry.register(aRegistration({ runningJobIds: [] }))).toMatchObject(REFUSED);
      expect(events).toEqual([]);
      expect(registry.get('node-1')).toBeUndefined();
      expect(await nodeIdClaims.current('node-1')).toBeUndefined();
      expect((await ledger.loads(['node-1'])).size).toBe(0);
      expect(counts.get('scheduler_dependency_down_total')).toBe(1);
    });
  }

  it('succeeds as soon as the store answers again', async () => {
    const { registry, broken } = createFixture();
    for (const call of ['declare', 'release', 'forget']) broken.add(call);
    expect(await registry.register(aRegistration())).toMatchObject(REFUSED);
    broken.clear();
    expect(await registry.register(aRegistration())).toMatchObject({ kind: 'registered', nodeId: 'node-1' });
  });

  it('leaves a known node unchanged', async () => {
    const { registry, readyNode, broken, health, clock, ledger } = createFixture();
    const { generation } = await readyNode();
    broken.add('reconcile');
    expect(await registry.register(aRegistration({ runningJobIds: [] }))).toMatchObject(REFUSED);
    broken.clear();
    expect(health('node-1')).toBe('ready');
    expect(registry.get('node-1')?.generation).toBe(generation);
    await clock.advance(1_000);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('does not prevent a later removal of the id', async () => {
    const { registry, readyNode, broken, clock, nodeIdClaims } = createFixture();
    const { generation } = await readyNode();
    broken.add('declare');
    await registry.register(aRegistration());
    broken.clear();
    registry.disconnected('node-1', generation);
    await clock.advance(610_000);
    expect(await nodeIdClaims.current('node-1')).toBeUndefined();
  });
});

describe('a registration while the capacity of the connection before is being declared', () => {
  it('I2 no leak: ends with the capacity of the new connection', async () => {
    const { registry, readyNode, join, beat, hold, ledger, clock } = createFixture();
    const { generation } = await readyNode();
    const open = hold('declare');
    registry.redeclare();
    await clock.advance(1_000);
    registry.disconnected('node-1', generation);
    const again = await join({ report: COLD_REPORT });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    await beat({ generation: again.generation, report: READY_REPORT });
    // The ledger ignores this one: it is of the connection before.
    open();
    await clock.advance(1_000);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });
});

describe('a heartbeat while the ledger does not answer', () => {
  it('counts as a heartbeat and not as a failure of the node', async () => {
    const { readyNode, beat, broken, clock, view, counts } = createFixture();
    await readyNode();
    broken.add('reconcile');
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(15_000);
      expect(await beat()).toEqual({ kind: 'beat', health: 'ready' });
    }
    expect(view('node-1')).toMatchObject({ isFresh: true, health: 'ready' });
    expect(counts.get('scheduler_dependency_down_total')).toBe(10);
  });

  it('declares a changed capacity to the ledger later', async () => {
    const { join, beat, broken, clock, ledger, health } = createFixture();
    await join();
    broken.add('declare');
    await beat();
    expect(health('node-1')).toBe('ready');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    broken.clear();
    await clock.advance(1_000);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });
});

describe('an operator command while the ledger does not answer', () => {
  it('applies to selection at once and to the ledger later', async () => {
    const { readyNode, registry, broken, clock, view, ledger } = createFixture();
    await readyNode();
    broken.add('declare');
    expect(await registry.control('node-1', 'drain')).toBe(true);
    expect(view('node-1')?.health).toBe('draining');
    broken.clear();
    await clock.advance(1_000);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });
});

describe('an operator command while the node ids do not answer', () => {
  it('is kept for the next registration later', async () => {
    const { readyNode, registry, broken, clock, nodeIdClaims, ledger } = createFixture();
    await readyNode();
    broken.add('keepOrders');
    expect(await registry.control('node-1', 'cordon', 'noisy fan')).toBe(true);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    broken.clear();
    await clock.advance(1_000);
    expect(await nodeIdClaims.claim('node-1', 'alice')).toMatchObject({
      orders: { isCordoned: true, reason: 'noisy fan' },
    });
  });

  it('ends by an uncordon that could not be written at first', async () => {
    const { readyNode, registry, broken, clock, nodeIdClaims } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon');
    broken.add('keepOrders');
    await registry.control('node-1', 'uncordon');
    broken.clear();
    await clock.advance(1_000);
    expect(await nodeIdClaims.claim('node-1', 'alice')).not.toHaveProperty('orders');
  });
});

describe('the removal of a node while a store does not answer', () => {
  for (const call of ['current', 'forget', 'release']) {
    it(`is tried again when "${call}" fails`, async () => {
      const { readyNode, registry, broken, clock, nodeIdClaims, of } = createFixture();
      const { generation } = await readyNode();
      registry.disconnected('node-1', generation);
      broken.add(call);
      await clock.advance(620_000);
      expect(registry.get('node-1')).toBeDefined();
      broken.clear();
      await clock.advance(2_000);
      expect(of('removed')).toHaveLength(1);
      expect(await nodeIdClaims.current('node-1')).toBeUndefined();
    });
  }
});

describe('a store that has lost all data', () => {
  async function emptied() {
    const fixture = createFixture({ legacySlots: 2 });
    const { generation } = await fixture.readyNode();
    await fixture.ledger.forget('node-1');
    await fixture.nodeIdClaims.release('node-1', generation);
    return { ...fixture, generation };
  }

  it('gets claims and slots of the nodes with the next scan', async () => {
    const { registry, clock, nodeIdClaims, ledger, generation } = await emptied();
    registry.redeclare();
    await clock.advance(1_000);
    expect(await nodeIdClaims.current('node-1')).toBe(generation);
    expect(await nodeIdClaims.claim('node-1', 'mallory')).toEqual({ kind: 'conflict' });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved', max: 2 });
  });

  it('gets the claim and the running jobs with the next heartbeat', async () => {
    const { beat, nodeIdClaims, ledger, generation } = await emptied();
    await beat({ resources: { cpuPercent: 10, gpuPercent: 20, memoryPercent: 30, runningJobs: 2 } });
    expect(await nodeIdClaims.current('node-1')).toBe(generation);
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'full', used: 2, max: 2 });
  });

  it('is written again until it answers', async () => {
    const { registry, broken, clock, nodeIdClaims, generation } = await emptied();
    broken.add('restore');
    registry.redeclare();
    await clock.advance(3_000);
    expect(await nodeIdClaims.current('node-1')).toBeUndefined();
    broken.clear();
    await clock.advance(1_000);
    expect(await nodeIdClaims.current('node-1')).toBe(generation);
  });

  it('keeps a newer claim of another credential and gets the slots', async () => {
    const { registry, clock, nodeIdClaims, ledger } = await emptied();
    await nodeIdClaims.claim('node-1', 'mallory');
    registry.redeclare();
    await clock.advance(1_000);
    expect(await nodeIdClaims.claim('node-1', 'alice')).toEqual({ kind: 'conflict' });
    expect((await ledger.loads(['node-1'])).get('node-1')).toMatchObject({ max: 2 });
  });
});
