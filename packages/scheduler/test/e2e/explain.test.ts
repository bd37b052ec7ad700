/** Explain over real HTTP: why a node would be chosen, or none. */
import type { ErrorReply, ExplainReply } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { FOUR_POOLS, startFourPools } from './support/four-pools.ts';
import { joinPooledNode, poolsToml } from './support/pooled-nodes.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
const NODE = { health: 'ready', semantic_langs: ['en', 'zh'], tts_langs: ['zh'] };

const explain = async (app: RunningApp, fields = {}, token?: string) =>
  (await app.post<ExplainReply>('/v1/explain', { ...UTTERANCE, ...fields }, token)).body;

describe('POST /v1/explain', () => {
  it('explain shows the target, the pools and the requirements', async () => {
    const { app } = await startFourPools();
    const reply = await explain(app, {
      tenant_id: 'acme',
      required_services: ['gold', 'tone'],
      features: { voice_style_detection: true },
    });
    expect(reply).toMatchObject({
      outcome: 'refuse',
      refusal: { code: 'NO_CAPABLE_NODE' },
      tenant_id: 'acme',
      requirements: {
        directions: [{ source: 'en', target: 'zh' }],
        types: ['asr', 'nmt', 'semantic', 'tone'],
        services: ['gold'],
        features: ['speaker_identification', 'voice_style_detection'],
      },
      confinement: 'tenant_pool',
    });
    expect(await explain(app, { tenant_id: 'acme' })).toMatchObject({
      outcome: 'dispatch',
      candidate_node_id: 'node-gold',
      total_nodes: 3,
      eligible_nodes: 1,
      reasons: [{ reason: 'not_in_pool', count: 2 }],
      pools: [{ pool_id: 1, pool_name: 'gold', reason: 'ok', candidates: 1 }],
      preferred_pool: 1,
      selected_pool: 1,
      fallback_used: false,
    });
  });

  it('a tenant in an empty pool gets the dispatch refusal, without effects', async () => {
    const { app } = await startFourPools();
    const reply = await explain(app, { tenant_id: 'globex' });
    expect(reply).toMatchObject({
      outcome: 'refuse',
      pools: [{ pool_id: 4, pool_name: 'lead', reason: 'no_nodes', candidates: 0 }],
      confinement: 'tenant_pool',
    });
    const refused = await app.tryDispatch({ tenant_id: 'globex' });
    expect(reply.refusal).toEqual({ code: refused.body.error, message: refused.body.detail });
    expect((await app.get<{ jobs: [] }>('/api/v1/jobs')).body.jobs).toEqual([]);
    expect((await app.nodes()).map(({ used_slots }) => used_slots)).toEqual([0, 0, 0]);
  });

  it('every reason against a node is listed', async () => {
    const { app, gold } = await startFourPools();
    await app.dispatch({ tenant_id: 'acme' });
    await app.post('/api/v1/nodes/node-gold/cordon');
    const reply = await explain(app, {
      tenant_id: 'globex',
      src_lang: 'de',
      node_id: 'node-gold',
      required_services: ['whisper-large'],
    });
    const { node } = reply;
    expect(node).toMatchObject({ node_id: 'node-gold', known: true, candidate: false, pool_ids: [1] });
    expect(node?.failed.map(({ reason }) => reason)).toEqual([
      'asr_lang_unsupported',
      'semantic_lang_unsupported',
      'lang_pair_unsupported',
      'service_not_installed',
      'not_in_pool',
      'cordoned',
      'model_not_available',
      'capacity_exceeded',
    ]);
    expect(node?.failed.map(({ fact }) => fact)).toEqual(
      expect.arrayContaining([
        'is in pool 1 (gold); the job may use pool 4 (lead)',
        'is cordoned by an operator',
        'service "whisper-large" is not ready',
        'no free slot: 1 of 1 used',
      ]),
    );
    gold.finish();
    expect((await explain(app, { node_id: 'ghost' })).node).toMatchObject({ known: false, candidate: false });
  });

  it('the fallback to the next pool is shown', async () => {
    const app = await startApp({}, poolsToml(FOUR_POOLS, { acme: 1 }));
    await joinPooledNode(app.nodeUrl, 'silver');
    await app.readyNodes(1);
    const reply = await explain(app, { tenant_id: 'acme' });
    expect(reply).toMatchObject({ preferred_pool: 1, selected_pool: 2, fallback_used: true });
    expect(reply.pools[0]).toEqual({ pool_id: 1, pool_name: 'gold', reason: 'no_nodes', candidates: 0 });
    expect(reply.pools.at(-1)).toMatchObject({ pool_id: 2, reason: 'ok', candidates: 1 });
    expect(await explain(app, { tenant_id: 'acme', exclude_node_id: 'node-silver' })).toMatchObject({
      outcome: 'refuse',
      reasons: [{ reason: 'excluded', count: 1, sample_node_ids: ['node-silver'] }],
    });
  });

  it('clients see counts of their own tenant, without node names', async () => {
    const app = await startApp(
      { 'scheduler.pools.enabled': true, 'scheduler.pools.pool_count': 4 },
      TOKEN_TOML,
    );
    for (const node_id of ['node-a', 'node-b']) {
      await app.post(
        '/v1/node/register',
        { ...NODE, node_id, ...(node_id === 'node-b' && { tts_langs: [] }) },
        TOKENS.node,
      );
    }
    const fields = { options: { require_tts: true } };
    const seen = await explain(app, fields, TOKENS.client);
    expect(seen).toMatchObject({
      outcome: 'dispatch',
      tenant_id: 'acme',
      total_nodes: 2,
      eligible_nodes: 1,
      reasons: [{ reason: 'tts_lang_unsupported', count: 1 }],
    });
    expect(JSON.stringify(seen)).not.toContain('node-');
    expect(JSON.stringify(await explain(app, fields, TOKENS.operator))).toContain('node-b');
    const forbidden = [
      [{ tenant_id: 'globex' }, '/tenant_id'],
      [{ node_id: 'node-a' }, '/node_id'],
    ] as const;
    for (const [more, field] of forbidden) {
      const answer = await app.post('/v1/explain', { ...UTTERANCE, ...more }, TOKENS.client);
      expect(answer).toMatchObject({ status: 403, body: { error: 'FORBIDDEN', field } });
    }
    expect(await explain(app, { tenant_id: 'globex' }, TOKENS.operator)).toMatchObject({
      tenant_id: 'globex',
    });
    expect((await app.post('/v1/explain', UTTERANCE, TOKENS.node)).status).toBe(403);
    expect((await app.post('/v1/explain', UTTERANCE)).status).toBe(401);
  });

  it.each([
    [{ audio: undefined }, '/audio_ref'],
    [{ session_id: 'no spaces' }, '/session_id'],
    [{ tgt_lang: 'auto' }, '/tgt_lang'],
    [{ audio: '%%%' }, '/audio'],
    [{ node_id: 'no spaces' }, '/node_id'],
    [{ exclude_node_id: 7 }, '/exclude_node_id'],
    [{ required_services: 'asr' }, '/required_services'],
    [{ required_services: ['no spaces'] }, '/required_services/0'],
    [{ required_services: Array(17).fill('a') }, '/required_services'],
  ])('explain refuses what dispatch refuses, with the field: %j', async (fields, field) => {
    const app = await startApp();
    const body = { ...UTTERANCE, ...fields };
    const refused = await app.post<ErrorReply>('/v1/explain', body);
    expect(refused).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE' } });
    expect(refused.body.field).toBe(field);
    if (/node_id/.test(field)) return;
    const dispatched = await app.post<ErrorReply>('/v1/dispatch/f2f', body);
    // Explain also explains text, which only /v1/translate takes; so it names one more way to mend a missing input.
    const detail = field === '/audio_ref' ? refused.body.detail : dispatched.body.detail;
    expect(refused.body).toEqual({ ...dispatched.body, detail });
  });
});
