/** Replies with what people said stay private, and refusals do not list the nodes of the fleet. */
import { expect, it } from 'vitest';
import { type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: 'AAAA' };
const NODE = { node_id: 'node-a', health: 'ready', semantic_langs: ['en', 'zh'], max_concurrent_jobs: 1 };

async function startWithNode(): Promise<{ app: RunningApp; jobId: string }> {
  const app = await startApp({}, TOKEN_TOML);
  await app.post('/v1/node/register', NODE, TOKENS.node);
  const { body } = await app.post<{ job_id: string }>('/v1/dispatch/f2f', UTTERANCE, TOKENS.client);
  return { app, jobId: body.job_id };
}

it('replies to a credential are kept by no cache and taken for no page', async () => {
  const { app, jobId } = await startWithNode();
  const replies = [
    await app.get(`/v1/job/${jobId}`, TOKENS.client),
    await app.get(`/v1/job/${jobId}/audio`, TOKENS.client),
    await app.get('/v1/job/nothing', TOKENS.client),
    await app.post('/v1/translate', { ...UTTERANCE, wait_ms: 1 }, TOKENS.client),
    await app.get('/api/v1/jobs', TOKENS.operator),
    await app.get('/v1/node/node-a/jobs', TOKENS.node),
    await app.get(`/v1/audio/${jobId}`, 'wrong-token-0123456789'),
    await app.get('/api/v1/sessions', TOKENS.client),
  ];
  for (const { headers } of replies) {
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

it('a refusal names a node to a client only if the client named it', async () => {
  const { app } = await startWithNode();
  const nodesNamed = async (token: string, fields: object = {}, path = '/v1/dispatch/f2f') => {
    const { status, body } = await app.post<{ reasons: { sample_node_ids: string[] }[] }>(
      path,
      { ...UTTERANCE, ...fields, wait_ms: 0 },
      token,
    );
    expect(status).toBeGreaterThanOrEqual(400);
    return body.reasons.flatMap((reason) => reason.sample_node_ids);
  };
  expect(await nodesNamed(TOKENS.operator)).toEqual(['node-a']);
  expect(await nodesNamed(TOKENS.client)).toEqual([]);
  expect(await nodesNamed(TOKENS.client, {}, '/v1/translate')).toEqual([]);
  expect(await nodesNamed(TOKENS.client, { options: { preferred_node_id: 'node-a' } })).toEqual(['node-a']);
});
