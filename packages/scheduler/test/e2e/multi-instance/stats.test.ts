/** Statistics of two instances on one Redis: both show the sum; without Redis they show the last one. */
import type { StatsReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { RedisServer } from '../../support/redis-servers.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { connectSession, INIT, sessionUrl } from '../support/session-client.ts';
import { type Instance, startInstances } from './start-instances.ts';

const TEST_MS = 120_000;

const stats = (instance: Instance) => instance.get<StatsReply & { status?: string }>('/api/v1/stats');

async function speak(instance: Instance, src_lang: string) {
  const session = connectSession({ url: sessionUrl(instance) });
  await session.opened();
  await session.init({ ...INIT, src_lang, tgt_lang: 'en' });
  return session;
}

it(
  'statistics are the sum; without Redis the last sum is shown as stale',
  async () => {
    const { redis, instances } = await startInstances(2, { 'scheduler.stats.snapshot_interval_ms': 1_000 });
    const [a, b] = instances as [Instance, Instance];
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-b1', onJob: async () => OUTPUT });
    await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-b2', onJob: async () => OUTPUT });
    await speak(a, 'zh');
    await speak(b, 'zh');
    await speak(b, 'ja');

    const seen = await eventually(async () => {
      const both = await Promise.all([stats(a), stats(b)]);
      const isAll = both.every(
        ({ body }) =>
          body.nodes?.connected_nodes === 3 &&
          body.web_clients.active_users === 3 &&
          // On a busy machine the next sum may be late.
          !body.snapshot.stale,
      );
      return isAll ? both.map(({ body }) => body) : undefined;
    });
    for (const { web_clients: clients, nodes } of seen) {
      expect(clients.language_usage).toEqual({
        zh: { as_source: 2, as_target: 0, total: 2 },
        ja: { as_source: 1, as_target: 0, total: 1 },
        en: { as_source: 0, as_target: 3, total: 3 },
      });
      expect(nodes.type_node_counts.asr).toBe(3);
      expect(nodes.compute_power.node_power_details.map(({ node_id }) => node_id).sort()).toEqual([
        'node-a',
        'node-b1',
        'node-b2',
      ]);
    }
    expect(seen[0]?.nodes).toEqual(seen[1]?.nodes);

    const server = redis.servers[0] as RedisServer;
    server.signal('SIGKILL');
    await eventually(async () => (await stats(a)).body.snapshot.stale);
    const { status, body } = await stats(a);
    expect(status).toBe(200);
    expect(body.nodes.connected_nodes).toBe(3);
    await server.restart();
    await eventually(async () => {
      const { snapshot, nodes } = (await stats(a)).body;
      return !snapshot.stale && nodes.connected_nodes === 3;
    });
  },
  TEST_MS,
);

it(
  'statistics do not count an instance that has left',
  async () => {
    const { instances } = await startInstances(2, { 'scheduler.stats.snapshot_interval_ms': 1_000 });
    const [a, b] = instances as [Instance, Instance];
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await speak(b, 'zh');
    await eventually(async () => (await stats(a)).body.web_clients?.active_users === 1);
    await b.app.stop();
    await eventually(async () => (await stats(a)).body.web_clients.active_users === 0);
    expect((await stats(a)).body.nodes.connected_nodes).toBe(1);
  },
  TEST_MS,
);
