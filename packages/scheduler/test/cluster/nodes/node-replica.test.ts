/** The replica of the fleet: what one instance knows of another's nodes, with lost notices, outages and an emptied store. */
import { describe, expect, it } from 'vitest';
import { times } from '../../contracts/harness.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { beating, INTERVAL_MS, joinBoard, ownNode, SETTINGS } from './node-replica-rig.ts';

/** One life of a presence, and the ticks around it. */
const GONE_MS = SETTINGS.presenceMs + 2 * SETTINGS.tickMs;

function startRig() {
  const {
    clock,
    store: { board },
    empty,
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  return {
    clock,
    board,
    join: (settings = {}) => joinBoard({ board, clock, settings }),
    /** Everything in it is gone; who listened goes on listening. */
    async empty(...deaf: ReturnType<typeof joinBoard>[]) {
      empty();
      for (const { way } of deaf) way.isDeaf = true;
    },
  };
}

describe('the replica of the fleet', () => {
  it('shows a node of one instance to the others at once, with who holds it', async () => {
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

  it('never takes own nodes from the board', async () => {
    const { clock, join } = startRig();
    const a = join();
    await a.replica.start();
    const node = ownNode();
    a.replica.keep(node);
    beating(clock, a.replica, node.nodeId);
    await clock.advance(20_000);
    expect(a.heard).toMatchObject({ changed: 0, removed: [], overtaken: [] });
    expect(a.replica.find(node.nodeId)).toBeUndefined();
  });

  it('finds at its start what was posted before', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    const nodes = times(300, () => ownNode());
    for (const node of nodes) a.replica.keep(node);
    await clock.advance(0);
    await b.replica.start();
    expect(b.views.size).toBe(300);
    expect(b.calls.most).toBeLessThanOrEqual(128);
  });

  it('makes up for lost notices: new, changed and withdrawn nodes', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    b.way.isDeaf = true;
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.views.has(node.nodeId)).toBe(true);
    a.replica.keep({ ...node, view: { ...node.view, isCordoned: true } });
    await clock.advance(SETTINGS.verifyMs + SETTINGS.tickMs);
    expect(b.views.get(node.nodeId)?.isCordoned).toBe(true);
    a.replica.drop(node.nodeId, node.generation);
    await clock.advance(SETTINGS.verifyMs + SETTINGS.tickMs);
    expect(b.heard.removed).toEqual([node.nodeId]);
  });

  it('removes a withdrawn node at once, also while expiry is frozen', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    expect(b.replica.stats().isFrozen).toBe(true);
    expect(a.replica.drop(node.nodeId, node.generation)).toBe(true);
    await clock.advance(1);
    expect(b.heard.removed).toEqual([node.nodeId]);
  });

  it('keeps a node that beats, with one write a beat, and removes one that fell silent', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    const fallSilent = beating(clock, a.replica, node.nodeId);
    await clock.advance(30 * INTERVAL_MS);
    expect(b.views.has(node.nodeId)).toBe(true);
    expect(b.heard).toMatchObject({ changed: 1, removed: [] });
    expect(b.heard.beats).toBeGreaterThan(10);
    expect(a.calls).toMatchObject({ post: 1, seen: 30 });
    fallSilent();
    await clock.advance(3 * INTERVAL_MS - SETTINGS.tickMs);
    expect(b.heard.removed).toEqual([]);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.heard.removed).toEqual([node.nodeId]);
  });

  it('tells several changes that come while one is told as one', async () => {
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

  it('removes nothing for one life after its start, though everything has expired', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await a.replica.start();
    a.replica.keep(ownNode({ intervalMs: 300 }));
    await clock.advance(1);
    await b.replica.start();
    expect(b.views.size).toBe(1);
    await clock.advance(SETTINGS.presenceMs - SETTINGS.tickMs);
    expect(b.heard.removed).toEqual([]);
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.heard.removed).toHaveLength(1);
  });

  it('lets nobody die of an outage of the store that all instances see', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const nodes = times(20, () => ownNode());
    for (const node of nodes) {
      a.replica.keep(node);
      beating(clock, a.replica, node.nodeId);
    }
    await clock.advance(2 * SETTINGS.presenceMs);
    a.way.isCut = true;
    b.way.isCut = true;
    await clock.advance(10 * SETTINGS.presenceMs);
    b.way.isCut = false;
    await clock.advance(SETTINGS.presenceMs / 2);
    a.way.isCut = false;
    await clock.advance(10_000);
    expect(b.heard.removed).toEqual([]);
    expect(b.views.size).toBe(20);
  });

  it('heals an emptied store: holders write their node records anew, and nobody is removed meanwhile', async () => {
    const { clock, join, empty } = startRig();
    // Looks often enough to find them missing.
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
    expect(b.heard.removed).toEqual([]);
    const late = join();
    await late.replica.start();
    expect(late.views.size).toBe(20);
  });

  it('removes what an emptied store has lost and nobody writes anew', async () => {
    const { clock, join, empty } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode({ intervalMs: 60_000 });
    a.replica.keep(node);
    await clock.advance(2 * SETTINGS.presenceMs);
    await empty();
    await clock.advance(SETTINGS.presenceMs);
    expect(b.heard.removed).toEqual([]);
    await clock.advance(SETTINGS.verifyMs + GONE_MS);
    expect(b.heard.removed).toEqual([node.nodeId]);
  });

  it('posts what it could not post as soon as it can, without a heartbeat', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    a.way.isCut = true;
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(3_000);
    expect(b.views.size).toBe(0);
    a.way.isCut = false;
    await clock.advance(SETTINGS.tickMs);
    expect(b.views.has(node.nodeId)).toBe(true);
  });

  it('writes nothing while it is fenced, and under its new name after', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode({ channel: 'mailbox' });
    a.replica.keep(node);
    await clock.advance(1);
    a.way.isFenced = true;
    const before = { ...a.calls };
    a.replica.keep({ ...node, view: { ...node.view, slots: 9 } });
    a.replica.beat(node.nodeId, clock.now());
    await clock.advance(2_000);
    expect({ ...a.calls, page: 0, read: 0 }).toEqual({ ...before, page: 0, read: 0 });
    a.way.isFenced = false;
    a.way.incarnation = 'second';
    a.replica.beat(node.nodeId, clock.now());
    await clock.advance(1);
    expect(b.replica.find(node.nodeId)).toMatchObject({
      holder: { incarnation: 'second' },
      view: { slots: 9 },
    });
  });

  it('follows a node that moves: the newer connection wins on both sides', async () => {
    const { clock, join } = startRig();
    const [a, b] = [join(), join()];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const node = ownNode();
    a.replica.keep(node);
    await clock.advance(1);
    expect(b.replica.keep({ ...node, generation: 2, view: { ...node.view, slots: 8 } })).toBe(true);
    await clock.advance(1);
    expect(a.heard.overtaken).toContain(node.nodeId);
    expect(a.views.get(node.nodeId)?.slots).toBe(8);
    expect(b.replica.find(node.nodeId)).toBeUndefined();
    expect(a.replica.keep(node)).toBe(false);
    expect(a.replica.drop(node.nodeId, 1)).toBe(false);
    await clock.advance(SETTINGS.tickMs);
    expect(a.views.get(node.nodeId)?.slots).toBe(8);
    expect(b.heard.overtaken).toEqual([]);
  });

  it('I11 bounded: takes no more nodes than its limit, and does no more per tick than it may', async () => {
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

  it('takes its sockets’ nodes off when it stops, and leaves no timer', async () => {
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
