/** What a heartbeat writes in Redis: over a socket, over HTTP at the instance that holds the node, and at another one. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { connectLegacyNode } from '../support/legacy-node.ts';
import { type Instance, startInstances } from './start-instances.ts';
import { type Cost, costOf, idleOf, watch } from './wire-tap.ts';

const BEATS = 30;
const MOST_WRITES = 2;
const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};
/** Commands that read, or that only tell whoever listens. All others are taken for writes. */
const NO_WRITES = new Set([
  ...['get', 'mget', 'hget', 'hmget', 'hgetall', 'smembers', 'pttl', 'info', 'ping', 'xlen', 'xpending'],
  ...[
    'publish',
    'spublish',
    'ssubscribe',
    'subscribe',
    'xreadgroup',
    'page-nodes',
    'read-record',
    'read-load',
  ],
]);

const writesOf = (cost: Cost): number =>
  Object.entries(cost).reduce((sum, [name, count]) => sum + (NO_WRITES.has(name) ? 0 : count), 0);

async function startPair() {
  const { redis, instances } = await startInstances(2);
  const [a, b] = instances as [Instance, Instance];
  const seen = await watch(redis);
  async function costOfBeats(beat: () => Promise<unknown>): Promise<Cost> {
    // Every script is known to the server by then, and every connection is made.
    await costOf(seen, beat, { rounds: 3 });
    const idle = await idleOf(seen);
    return costOf(seen, beat, { rounds: BEATS, idle });
  }
  return { a, b, costOfBeats };
}

describe('a heartbeat', () => {
  it.each(['its holder', 'another instance'])('over HTTP at %s writes twice at most', async (where) => {
    const { a, b, costOfBeats } = await startPair();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const heardBy = where === 'its holder' ? a : b;
    const cost = await costOfBeats(async () => {
      const beat = await heardBy.post('/v1/node/heartbeat', { node_id: NODE.node_id, running_jobs: 0 });
      expect(beat).toMatchObject({ status: 200, body: { ok: true } });
    });
    const said = JSON.stringify(cost);
    expect(cost['reconcile-node'], said).toBeGreaterThan(0.9);
    expect(cost['send-messages'] ?? 0, said).toBeLessThan(0.1);
    // What is written by the clock comes in lumps.
    expect(writesOf(cost), said).toBeLessThan(MOST_WRITES + 0.5);
  });

  it('over a socket writes twice at most', async () => {
    const { a, b, costOfBeats } = await startPair();
    const node = await connectLegacyNode({ url: a.nodeUrl, nodeId: 'node-a' }).registered();
    await b.readyNodes(1);
    let beats = 0;
    const seenAt = async (): Promise<unknown> => (await a.nodes())[0]?.last_heartbeat_at_ms;
    const cost = await costOfBeats(async () => {
      const before = await seenAt();
      beats += 1;
      node.beat();
      await eventually(async () => (await seenAt()) !== before);
    });
    expect(beats).toBeGreaterThan(BEATS);
    expect(writesOf(cost), JSON.stringify(cost)).toBeLessThan(MOST_WRITES + 0.5);
  });
});
