/** The TTL of a node record is three heartbeat intervals, with jitter, so that nodes that joined together do not expire together. */
import { expect, it } from 'vitest';
import { ownNode } from './node-replica-rig.ts';
import { createPublisher } from './own-nodes-rig.ts';

const INTERVAL_MS = 10_000;

it.each([
  [0, 24_000],
  [0.5, 30_000],
  [1, 36_000],
])('a node record ttls three intervals, plus or minus 20 %: chance %d', async (chance, ttlMs) => {
  const { clock, records, ttls } = createPublisher(chance);
  const node = ownNode({ intervalMs: INTERVAL_MS });
  records.keep(node);
  await clock.advance(INTERVAL_MS);
  records.beat(node.nodeId, clock.now());
  await clock.advance(0);
  expect(ttls).toEqual([ttlMs, ttlMs]);
});
