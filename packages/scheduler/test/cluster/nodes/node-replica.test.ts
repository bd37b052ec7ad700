/** The node replica: what one instance knows of the nodes of another, with lost notices, outages and an emptied store. */
import { describe, expect, it } from 'vitest';
import { times } from '../../contracts/harness.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { beating, INTERVAL_MS, joinReplica, ownNode, SETTINGS } from './node-replica-rig.ts';

/** One TTL of a node record, and the ticks around it. */
const GONE_MS = SETTINGS.presenceMs + 2 * SETTINGS.tickMs;

function startRig() {
  const {
    clock,
    store: { nodeRecords },
    empty,
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  return {
    clock,
    nodeRecords,
    join: (settings = {}) => joinReplica({ nodeRecords, clock, settings }),
    /** The store loses everything; subscriptions stay. */
    async empty(...deaf: ReturnType<typeof joinReplica>[]) {
      empty();
      for (const { connection } of deaf) connection.isDeaf = true;
    },
  };
}

describe('the node replica', () => {
  it('shows a node of one instance to the others, with its holder', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode({ channel: 'endpoint', endpoint: 'http://10.0.0.1/' }, { slots: 7 });
    expect(a.replica.keep(node)).toBe(true);
    await clock.advance(1);
    expect(b.views.get(node.nodeId)).toMatchObject({ slots: 7, health: 'ready' });
    expect(b.replica.find(node.nodeId)).toMatchObject({ channel: 'endpoint', endpoint: 'http://10.0.0.1/' });
    expect(b.replica.find(node.nodeId)?.holder.incarnation).toBe('first');
  });

  it('knows the last heartbeat of a node of another instance', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    beating(clock, a.replica, node.nodeId);
    await clock.advance(20_000);
    const { lastBeatAt } = b.replica.find(node.nodeId)?.view ?? { lastBeatAt: 0 };
    expect(clock.now() - lastBeatAt).toBeLessThanOrEqual(INTERVAL_MS + SETTINGS.verifyMs);
  });

  it('never replaces own nodes by records of the store', async () => {
    const { clock, join } = startRig();
    const a = join();
    await a.replica.start();
    const node = ownNode();
    a.replica.keep(node);
    beating(clock, a.replica, node.nodeId);
    await clock.advance(20_000);
    expect(a.received).toMatchObject({ changed: 0, removed: [], overtaken: [] });
    expect(a.replica.find(node.nodeId)).toBeUndefined();
  });

  it('finds existing records at its start', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    const nodes = times(300, () => ownNode());
    for (const node of nodes) a.replica.keep(node);
    await clock.advance(0);
    await b.replica.start();
    expect(b.views.size).toBe(300);
    expect(b.calls.most).toBeLessThanOrEqual(128);
  });

  it('finds new, changed and withdrawn nodes although notices were lost', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    b.connection.isDeaf = true;
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.views.has(node.nodeId)).toBe(true);
    a.replica.keep({ ...node, view: { ...node.view, isCordoned: true } });
    await clock.advance(SETTINGS.verifyMs + SETTINGS.tickMs);
    expect(b.views.get(node.nodeId)?.isCordoned).toBe(true);
    a.replica.drop(node.nodeId, node.generation);
    await clock.advance(SETTINGS.verifyMs + SETTINGS.tickMs);
    expect(b.received.removed).toEqual([node.nodeId]);
  });

  it('removes a withdrawn node at once, even while removals are held off', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    expect(b.replica.stats().isHoldingOff).toBe(true);
    expect(a.replica.drop(node.nodeId, node.generation)).toBe(true);
    await clock.advance(1);
    expect(b.received.removed).toEqual([node.nodeId]);
  });

  it('writes once per heartbeat and removes a silent node', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    const fallSilent = beating(clock, a.replica, node.nodeId);
    await clock.advance(30 * INTERVAL_MS);
    expect(b.views.has(node.nodeId)).toBe(true);
    expect(b.received).toMatchObject({ changed: 1, removed: [] });
    expect(b.received.beats).toBeGreaterThan(10);
    expect(a.calls).toMatchObject({ post: 1, seen: 30 });
    fallSilent();
    await clock.advance(3 * INTERVAL_MS - SETTINGS.tickMs);
    expect(b.received.removed).toEqual([]);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.received.removed).toEqual([node.nodeId]);
  });

  it('publishes several changes during a write as one', async () => {
    const { clock, join } = startRig();
    const a = join();
    const node = ownNode();
    for (const slots of times(50, (n) => n)) {
      a.replica.keep({ ...node, view: { ...node.view, slots } });
      a.replica.beat(node.nodeId, clock.now());
    }
    await clock.advance(1);
    expect(a.calls).toMatchObject({ post: 2, seen: 0 });
  });

  it('removes nothing for one TTL after its start', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await a.replica.start();
    a.replica.keep(ownNode({ intervalMs: 300 }));
    await clock.advance(1);
    await b.replica.start();
    expect(b.views.size).toBe(1);
    await clock.advance(SETTINGS.presenceMs - SETTINGS.tickMs);
    expect(b.received.removed).toEqual([]);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.received.removed).toHaveLength(1);
  });

  it('removes no node because of an outage that all instances see', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const nodes = times(20, () => ownNode());
    for (const node of nodes) {
      a.replica.keep(node);
      beating(clock, a.replica, node.nodeId);
    }
    await clock.advance(2 * SETTINGS.presenceMs);
    a.connection.isCut = true;
    b.connection.isCut = true;
    await clock.advance(10 * SETTINGS.presenceMs);
    b.connection.isCut = false;
    await clock.advance(SETTINGS.presenceMs / 2);
    a.connection.isCut = false;
    await clock.advance(10_000);
    expect(b.received.removed).toEqual([]);
    expect(b.views.size).toBe(20);
  });

  it('an emptied store is filled again by the holders, without removals', async () => {
    const { clock, join, empty } = startRig();
    // Reads often enough to find them missing.
    const [a, b] = [join(), join({ tickMs: 100, verifyMs: 100 })];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const nodes = times(20, () => ownNode());
    for (const node of nodes) {
      a.replica.keep(node);
      beating(clock, a.replica, node.nodeId);
    }
    await clock.advance(2 * SETTINGS.presenceMs);
    await empty(b);
    await clock.advance(10_000);
    expect(b.received.removed).toEqual([]);
    const late = join();
    await late.replica.start();
    expect(late.views.size).toBe(20);
  });

  it('removes nodes that an emptied store lost and no holder publishes', async () => {
    const { clock, join, empty } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode({ intervalMs: 60_000 });
    a.replica.keep(node);
    await clock.advance(2 * SETTINGS.presenceMs);
    await empty();
    await clock.advance(SETTINGS.presenceMs);
    expect(b.received.removed).toEqual([]);
    await clock.advance(SETTINGS.verifyMs + GONE_MS);
    expect(b.received.removed).toEqual([node.nodeId]);
  });

  it('publishes after an outage without waiting for a heartbeat', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    a.connection.isCut = true;
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(3_000);
    expect(b.views.size).toBe(0);
    a.connection.isCut = false;
    await clock.advance(SETTINGS.tickMs);
    expect(b.views.has(node.nodeId)).toBe(true);
  });

  it('publishes nothing while fenced, then under its new incarnation', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode({ channel: 'mailbox' });
    a.replica.keep(node);
    await clock.advance(1);
    a.connection.isFenced = true;
    const before = { ...a.calls };
    a.replica.keep({ ...node, view: { ...node.view, slots: 9 } });
    a.replica.beat(node.nodeId, clock.now());
    await clock.advance(2_000);
    expect({ ...a.calls, page: 0, read: 0 }).toEqual({ ...before, page: 0, read: 0 });
    a.connection.isFenced = false;
    a.connection.incarnation = 'second';
    a.replica.beat(node.nodeId, clock.now());
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({
      holder: { incarnation: 'second' },
      view: { slots: 9 },
    });
  });

  it('the newer connection of a node wins at both instances', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    expect(b.replica.keep({ ...node, generation: 2, view: { ...node.view, slots: 8 } })).toBe(true);
    await clock.advance(1);
    expect(a.received.overtaken).toContain(node.nodeId);
    expect(a.views.get(node.nodeId)?.slots).toBe(8);
    expect(b.replica.find(node.nodeId)).toBeUndefined();
    expect(a.replica.keep(node)).toBe(false);
    expect(a.replica.drop(node.nodeId, 1)).toBe(false);
    await clock.advance(SETTINGS.tickMs);
    expect(a.views.get(node.nodeId)?.slots).toBe(8);
    expect(b.received.overtaken).toEqual([]);
  });

  it('I11 bounded: limits its nodes and its reads per tick', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join({ maxNodes: 250 })];
    for (const node of times(600, () => ownNode({ intervalMs: 60_000 }))) a.replica.keep(node);
    await clock.advance(1);
    await b.replica.start();
    expect(b.views.size).toBe(250);
    await clock.advance(20 * SETTINGS.tickMs);
    expect(b.replica.stats()).toMatchObject({ known: 250 });
    expect(b.replica.stats().refused).toBeGreaterThan(0);
    const before = b.calls.read + b.calls.page;
    await clock.advance(10 * SETTINGS.tickMs);
    // The index of nodes has 16 parts, so a whole pass over it takes at least 16 pages.
    expect(b.calls.read + b.calls.page - before).toBeLessThan(10 * 8);
  });

  it('withdraws the nodes on its sockets when it stops, without timers left', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const [socket, mailbox] = [ownNode(), ownNode({ channel: 'mailbox' })];
    a.replica.keep(socket);
    a.replica.keep(mailbox);
    await clock.advance(1);
    await a.replica.stop();
    await clock.advance(1);
    expect([...b.views.keys()]).toEqual([mailbox.nodeId]);
    await b.replica.stop();
    expect(clock.pending()).toBe(0);
  });
});
