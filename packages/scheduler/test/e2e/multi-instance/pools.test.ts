/** Capability pools over instances: a node is in the same pool on all instances, and tenants stay in their pool on each. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { joinPooledNode, poolsToml } from '../support/pooled-nodes.ts';
import { startInstance } from './start-instances.ts';

const POOLS = [
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
];

describe('capability pools over instances', () => {
  it('apply to nodes of another instance', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const toml = poolsToml(POOLS, { acme: 1, globex: 2 }, { strict_pool_eligibility: true });
    const here = await startInstance(redis, 'pools', {}, toml);
    const there = await startInstance(redis, 'pools', {}, toml);
    await joinPooledNode(here.nodeUrl, 'gold', { slots: 4 });
    await joinPooledNode(there.nodeUrl, 'silver', { slots: 4 });
    for (const instance of [here, there]) {
      await eventually(async () => (await instance.tryDispatch({ tenant_id: 'acme' })).status === 200);
      for (let n = 0; n < 3; n++) {
        expect(await instance.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-gold' });
        await eventually(async () => (await instance.tryDispatch({ tenant_id: 'globex' })).status === 200);
        expect(await instance.dispatch({ tenant_id: 'globex' })).toMatchObject({ node_id: 'node-silver' });
      }
    }
  });
});
