/** Load hints: sent soon where they matter, later where a node has room, and not at all when unchanged. */
import { describe, expect, it } from 'vitest';
import { FRESH_MS, startTalk } from './hints-rig.ts';

const ROOMY_MS = 5_000;

describe('the load of a node', () => {
  it('is sent later, and once, while the node has plenty of room', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (const one of [a, b]) one.known.set('n1', { used: 0, max: 8 });
    for (const used of [1, 2, 3]) a.load('n1', used, 8);
    await clock.advance(ROOMY_MS - 1);
    expect(b.received).toEqual([]);
    await clock.advance(1);
    expect([b.received, said.length, clock.pending()]).toEqual([['n1 3/8'], 1, 0]);
  });

  it('is not sent when unchanged, unless the node reported it', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    a.known.set('n1', { used: 0, max: 8 });
    for (const used of [1, 0]) a.load('n1', used, 8);
    await clock.advance(ROOMY_MS);
    expect([said, clock.pending()]).toEqual([[], 0]);
    a.hints.load('n1', { used: 0, max: 8 }, true);
    a.load('n1', 1, 8);
    a.load('n1', 0, 8);
    await clock.advance(ROOMY_MS);
    expect(b.received).toEqual(['n1 0/8']);
  });

  it('is sent again when another instance sent a different load', async () => {
    const { clock, join } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    for (const one of [a, b]) one.known.set('n1', { used: 0, max: 8 });
    a.load('n1', 1, 8);
    a.load('n1', 0, 8);
    b.load('n1', 4, 8);
    await clock.advance(FRESH_MS);
    expect(c.received).toEqual(['n1 4/8']);
    await clock.advance(ROOMY_MS);
    expect(c.received).toEqual(['n1 4/8', 'n1 0/8']);
  });

  it('is sent at once when a full node has room again', async () => {
    const { clock, join } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    a.known.set('n1', { used: 1, max: 1 });
    a.known.set('n2', { used: 0, max: 8 });
    a.load('n2', 1, 8);
    a.load('n1', 0, 1);
    await clock.advance(FRESH_MS);
    // Hints that could have waited are sent with it.
    expect(b.received).toEqual(['n2 1/8', 'n1 0/1']);
    expect(clock.pending()).toBe(0);
  });
});
