/** An operator keeps work away from a node, and lets it back; and what an operator sees. */
import { describe, expect, it } from 'vitest';
import { createFixture } from './registry-fixture.ts';

describe('cordon', () => {
  it('keeps new jobs away and leaves health alone', async () => {
    const { readyNode, registry, view, ledger, of } = createFixture();
    await readyNode();
    expect(await registry.control('node-1', 'cordon')).toBe(true);
    expect(view('node-1')).toMatchObject({ isCordoned: true, health: 'ready' });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
    expect(of('statusChanged')).toHaveLength(1);
  });

  it('survives a reconnect', async () => {
    const { readyNode, registry, view, ledger } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon');
    await readyNode();
    expect(view('node-1')).toMatchObject({ isCordoned: true, health: 'ready' });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });

  it('is undone by uncordon', async () => {
    const { readyNode, registry, ledger } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon');
    await registry.control('node-1', 'uncordon');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });
});

describe('drain', () => {
  it('is a health state that is sent to the node', async () => {
    const { readyNode, registry, of, ledger } = createFixture();
    await readyNode();
    await registry.control('node-1', 'drain');
    expect(of('statusChanged').at(-1)).toEqual({
      event: 'statusChanged',
      nodeId: 'node-1',
      health: 'draining',
      reason: 'operator',
    });
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toEqual({ kind: 'not_ready' });
  });

  it('is sent to the node, and withdrawn by uncordon', async () => {
    const { readyNode, registry, of } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon');
    await registry.control('node-1', 'uncordon');
    expect(of('ordered')).toEqual([]);
    await registry.control('node-1', 'drain');
    await registry.control('node-1', 'uncordon');
    expect(of('ordered').map(({ order }) => order)).toEqual(['drain', 'resume']);
  });

  it('lets running jobs keep their slots', async () => {
    const { readyNode, registry, ledger } = createFixture();
    await readyNode();
    await ledger.reserve('node-1', 'job-1:1', 60_000);
    await registry.control('node-1', 'drain');
    expect((await ledger.loads(['node-1'])).get('node-1')).toEqual({ used: 1, max: 4 });
  });

  it('survives heartbeats and a reconnect', async () => {
    const { readyNode, registry, beat, health } = createFixture();
    await readyNode();
    await registry.control('node-1', 'drain');
    await beat({ health: 'ready' });
    expect(health('node-1')).toBe('draining');
    expect((await readyNode()).health).toBe('draining');
    expect(health('node-1')).toBe('draining');
  });

  it('is undone by uncordon', async () => {
    const { readyNode, registry, ledger, health } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon');
    await registry.control('node-1', 'drain');
    await registry.control('node-1', 'uncordon');
    expect(health('node-1')).toBe('ready');
    expect(await ledger.reserve('node-1', 'job-1:1', 1_000)).toMatchObject({ kind: 'reserved' });
  });

  it('waits for a node that is offline', async () => {
    const { readyNode, registry, clock, health } = createFixture();
    const { generation } = await readyNode();
    registry.disconnected('node-1', generation);
    await clock.advance(1_000);
    await registry.control('node-1', 'drain');
    expect(health('node-1')).toBe('offline');
    await readyNode();
    expect(health('node-1')).toBe('draining');
  });
});

describe('an order', () => {
  it('has a reason until the node gets jobs again', async () => {
    const { readyNode, registry, view } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon', 'noisy fan');
    expect(view('node-1')?.orderReason).toBe('noisy fan');
    await registry.control('node-1', 'uncordon');
    expect(view('node-1')).not.toHaveProperty('orderReason');
    await registry.control('node-1', 'drain', `new disk ${'.'.repeat(1_000)}`);
    expect(view('node-1')?.orderReason).toMatch(/^new disk \.{491}$/);
    await readyNode();
    expect(view('node-1')?.orderReason).toMatch(/^new disk/);
  });

  it('is published again with another reason', async () => {
    const { readyNode, registry, of } = createFixture();
    await readyNode();
    await registry.control('node-1', 'cordon', 'noisy fan');
    await registry.control('node-1', 'cordon', 'broken fan');
    expect(of('changed').at(-1)?.view.orderReason).toBe('broken fan');
  });
});

describe('remove', () => {
  it('a removed node is offline at once, loses its jobs, and is forgotten', async () => {
    const { readyNode, registry, beat, clock, health, of, news } = createFixture();
    await readyNode({ channel: 'mailbox' });
    news();
    expect(await registry.control('node-1', 'remove')).toBe(true);
    expect(health('node-1')).toBe('offline');
    expect(of('disconnected')).toMatchObject([{ nodeId: 'node-1', graceMs: 0 }]);
    expect(await beat()).toEqual({ kind: 'unknown_node' });
    await clock.advance(4_000);
    expect(registry.get('node-1')).toBeUndefined();
    expect(await registry.control('node-1', 'remove')).toBe(false);
  });

  it('a removed node that registers again stays', async () => {
    const { readyNode, registry, clock, health } = createFixture();
    await readyNode({ channel: 'mailbox' });
    await registry.control('node-1', 'remove');
    await readyNode({ channel: 'mailbox' });
    await clock.advance(4_000);
    expect(health('node-1')).toBe('ready');
  });
});

describe('the listing for operators', () => {
  it('has nothing for an unknown node', async () => {
    const { registry } = createFixture();
    expect(await registry.control('node-9', 'drain')).toBe(false);
    expect(registry.get('node-9')).toBeUndefined();
  });

  it('has pages by id, each node once', async () => {
    const { join, registry } = createFixture();
    const names = Array.from({ length: 7 }, (_, index) => `node-${9 - index}`);
    for (const nodeId of names) await join({ nodeId });
    await join({ nodeId: 'node-9' });
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = registry.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.nodes.map(({ view }) => view.nodeId));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(seen).toEqual(names.toSorted());
    expect(pages).toBe(3);
  });

  it('continues after a node that has left', async () => {
    const { join, registry } = createFixture();
    await join({ nodeId: 'node-c' });
    const { nodes } = registry.list({ limit: 5, cursor: 'node-b' });
    expect(nodes.map(({ view }) => view.nodeId)).toEqual(['node-c']);
  });
});
