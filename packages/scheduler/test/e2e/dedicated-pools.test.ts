/** A node cannot get into the pool of a tenant by what it says about itself, nor under the id of another node. */
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.ts';
import { joinPooledNode, poolsToml } from './support/pooled-nodes.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const BOUND = 'bound-token-0123456789';
const POOLS = [
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
];
const TOML = [
  poolsToml(POOLS, { acme: 1 }, { strict_pool_eligibility: true }),
  TOKEN_TOML,
  `[[server.tokens]]\ntoken = "${BOUND}"\nrole = "node"\npool_ids = [1]\n`,
].join('\n');

const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
const say = (app: RunningApp, token: string) => app.post('/v1/dispatch/f2f', UTTERANCE, token);

async function readyNodes(app: RunningApp, count: number): Promise<void> {
  await eventually(async () => {
    const { body } = await app.get<{ nodes: { status: string }[] }>('/api/v1/nodes', TOKENS.operator);
    return body.nodes.filter(({ status }) => status === 'ready').length >= count;
  });
}

describe('the pool of a tenant', () => {
  it('takes no node of another token that claims its services', async () => {
    const app = await startApp({}, TOML);
    const attacker = await joinPooledNode(app.nodeUrl, 'gold', { slots: 50, token: TOKENS.node });
    const overHttp = {
      node_id: 'node-http',
      health: 'ready',
      semantic_langs: ['en', 'zh'],
      installed_services: [{ service_id: 'gold', version: '1', device: 'gpu', status: 'running' }],
    };
    expect((await app.post('/v1/node/register', overHttp, TOKENS.node)).status).toBe(200);
    await readyNodes(app, 2);
    for (let n = 0; n < 5; n++)
      expect((await say(app, TOKENS.client)).body).toMatchObject({ error: 'ALL_CANDIDATES_FULL_OR_FAILED' });
    expect(attacker.begun).toEqual([]);
    const bound = await joinPooledNode(app.nodeUrl, 'gold', { slots: 50, nodeId: 'ours', token: BOUND });
    await readyNodes(app, 3);
    for (let n = 0; n < 5; n++)
      expect((await say(app, TOKENS.client)).body).toMatchObject({ node_id: 'ours' });
    expect(bound.begun).toHaveLength(5);
    expect(attacker.begun).toEqual([]);
  });

  it('takes nodes whose token has its tenant', async () => {
    const app = await startApp({}, TOML);
    await joinPooledNode(app.nodeUrl, 'gold', { token: TOKENS.acmeNode });
    await readyNodes(app, 1);
    expect((await say(app, TOKENS.client)).body).toMatchObject({ node_id: 'node-gold' });
  });

  it('is warned about if no token is bound to it', async () => {
    const unbound = [poolsToml(POOLS, { globex: 2 }), TOKEN_TOML].join('\n');
    const app = await startApp({}, unbound, () => unbound);
    await app.post('/api/v1/phase3/reload', {}, TOKENS.operator);
    expect(app.log.join('')).toContain('add pool_ids = [2] to the [[server.tokens]] row of its nodes');
  });
});

describe('the id of a pinned token', () => {
  const register = { health: 'ready', semantic_langs: ['en', 'zh'], node_id: 'node-pinned' };

  it('is refused to unpinned and anonymous nodes, over HTTP and sockets', async () => {
    const app = await startApp({ 'server.anonymous': 'node' }, TOKEN_TOML);
    for (const token of [TOKENS.node, undefined])
      expect((await app.post('/v1/node/register', register, token)).status).toBe(403);
    for (const headers of [{}, { authorization: `Bearer ${TOKENS.node}` }]) {
      const ws = new WebSocket(app.nodeUrl, { headers });
      onTestFinished(() => ws.terminate());
      const answered = new Promise((resolve) => ws.on('message', (data) => resolve(JSON.parse(`${data}`))));
      await new Promise((resolve) => ws.on('open', resolve));
      ws.send(
        JSON.stringify({
          type: 'node_register',
          node_id: 'node-pinned',
          version: '1',
          platform: 'linux',
          hardware: { cpu_cores: 4, memory_gb: 8, gpus: [{ name: 'g', memory_gb: 8 }] },
          installed_models: [],
          features_supported: {},
          accept_public_jobs: true,
        }),
      );
      expect(await answered).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    }
    const { body } = await app.get<{ nodes: unknown[] }>('/api/v1/nodes', TOKENS.operator);
    expect(body.nodes).toEqual([]);
    expect((await app.post('/v1/node/register', register, TOKENS.pinned)).status).toBe(200);
  });
});
