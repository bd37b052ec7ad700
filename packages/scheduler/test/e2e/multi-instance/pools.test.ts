/** Capability pools over instances: a node is in the same pool on all instances, and tenants stay in their pool on each. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { joinPooledNode, poolsToml } from '../support/pooled-nodes.ts';
import { AUDIO } from '../support/start-app.ts';
import { TOKEN_TOML, TOKENS } from '../support/tokens.ts';
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

  it('no instance admits a node of another token to the pool of a tenant', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const bound = 'bound-token-0123456789';
    const toml = [
      poolsToml(POOLS, { acme: 1 }, { strict_pool_eligibility: true }),
      TOKEN_TOML,
      `[[server.tokens]]\ntoken = "${bound}"\nrole = "node"\npool_ids = [1]\n`,
    ].join('\n');
    const here = await startInstance(redis, 'bound', {}, toml);
    const there = await startInstance(redis, 'bound', {}, toml);
    const attacker = await joinPooledNode(here.nodeUrl, 'gold', { slots: 50, token: TOKENS.node });
    await joinPooledNode(here.nodeUrl, 'gold', { slots: 50, nodeId: 'ours', token: bound });
    const utterance = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
    const placed = async () => (await there.post('/v1/dispatch/f2f', utterance, TOKENS.client)).body.node_id;
    await eventually(async () => (await placed()) === 'ours');
    // The other instance knows both nodes, and one of them may have been announced later.
    await eventually(async () => {
      const { body } = await there.get<{ nodes: { status: string }[] }>('/api/v1/nodes', TOKENS.operator);
      return body.nodes.filter(({ status }) => status === 'ready').length === 2;
    });
    for (let n = 0; n < 10; n++) expect(await placed()).toBe('ours');
    expect(attacker.begun).toEqual([]);
  });
});
