/** How long a node counts as present: three heartbeats, each time a little more or less, so that a fleet that came at once does not go at once. */
import { expect, it } from 'vitest';
import { ownNode } from './node-replica-rig.ts';
import { openSheets } from './own-nodes-rig.ts';

const INTERVAL_MS = 10_000;

it.each([
  [0, 24_000],
  [0.5, 30_000],
  [1, 36_000],
])('is three times its interval, by a fifth either way: chance %d', async (chance, ttlMs) => {
  const { clock, records, lives } = openSheets(chance);
  const node = ownNode({ intervalMs: INTERVAL_MS });
  records.keep(node);
  await clock.advance(INTERVAL_MS);
  records.beat(node.nodeId, clock.now());
  await clock.advance(0);
  expect(lives).toEqual([ttlMs, ttlMs]);
});
