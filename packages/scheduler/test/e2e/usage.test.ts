/** What tenants used, as their servers and operators read it over HTTP and with `lingua usage`. */
import type { UsageReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run-command.ts';
import { createTerminal } from '../cli/terminal.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

const TOKENS = {
  acme: 'acme-token-0123456789',
  beta: 'beta-token-0123456789',
  node: 'node-token-0123456789',
  operator: 'operator-token-0123456789',
};
const TOML = [
  `[[server.tokens]]\ntoken = "${TOKENS.acme}"\nrole = "client"\ntenant_id = "acme"`,
  `[[server.tokens]]\ntoken = "${TOKENS.beta}"\nrole = "client"\ntenant_id = "beta"`,
  `[[server.tokens]]\ntoken = "${TOKENS.node}"\nrole = "node"`,
  `[[server.tokens]]\ntoken = "${TOKENS.operator}"\nrole = "operator"`,
].join('\n');

/** Half a second of samples. */
const AUDIO = Buffer.alloc(16_000).toString('base64');

it('a tenant reads its own usage, an operator that of all (I10)', { timeout: 120_000 }, async () => {
  const app = await startApp({}, TOML);
  await joinSdkNode({
    url: app.nodeUrl,
    token: TOKENS.node,
    onJob: () => ({ text_asr: '你好', text_translated: 'hello', tts_audio: '', tts_format: 'pcm16' }),
  });
  const translate = (token: string, body: object) =>
    app.post('/v1/translate', { src_lang: 'zh', tgt_lang: 'en', wait_ms: 10_000, ...body }, token);
  expect((await translate(TOKENS.acme, { audio: AUDIO })).status).toBe(200);
  expect((await translate(TOKENS.acme, { audio: AUDIO })).status).toBe(200);
  expect((await translate(TOKENS.beta, { audio: AUDIO })).status).toBe(200);

  const usage = async (query: string, token: string) => app.get<UsageReply>(`/api/v1/usage?${query}`, token);
  const own = await usage('', TOKENS.acme);
  const none = { unmeasured: 0, voice_seconds: 0 };
  expect(own.body.rows).toEqual([
    { stage: 'asr', language: 'zh', results: 2, audio_seconds: 1, characters: 0, ...none },
    { stage: 'nmt', language: 'zh>en', results: 2, audio_seconds: 0, characters: 4, ...none },
    { stage: 'semantic', language: 'zh', results: 2, audio_seconds: 0, characters: 4, ...none },
  ]);
  const foreign = await usage('tenant_id=beta', TOKENS.acme);
  expect([foreign.status, foreign.body]).toMatchObject([403, { error: 'FORBIDDEN', field: '/tenant_id' }]);

  const all = await usage('group_by=tenant,stage', TOKENS.operator);
  expect(all.body.rows.map((row) => [row.tenant_id, row.stage, row.audio_seconds])).toEqual([
    ['acme', 'asr', 1],
    ['acme', 'nmt', 0],
    ['acme', 'semantic', 0],
    ['beta', 'asr', 0.5],
    ['beta', 'nmt', 0],
    ['beta', 'semantic', 0],
  ]);
  expect((await usage('tenant_id=beta', TOKENS.operator)).body.rows[0]?.audio_seconds).toBe(0.5);

  const csv = await app.get<string>('/api/v1/usage?group_by=stage&format=csv', TOKENS.beta);
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(csv.body.split('\r\n').slice(0, 2)).toEqual([
    'stage,results,unmeasured,audio_seconds,characters,voice_seconds',
    'asr,1,0,0.5,0,0',
  ]);

  for (const [query, field] of [
    ['from=yesterday', '/from'],
    ['to=2026-11-01T08:00', '/to'],
    ['from=2026-11-02&to=2026-11-01', '/from'],
    ['group_by=node', '/group_by'],
  ] as const)
    expect((await usage(query, TOKENS.acme)).body).toMatchObject({ error: 'INVALID_MESSAGE', field });

  const terminal = createTerminal();
  const env = { LINGUA_URL: app.url, LINGUA_TOKEN: TOKENS.operator };
  expect(await runCommand(['usage', '--by', 'tenant,stage'], { ...terminal, env })).toBe(0);
  expect(terminal.lines.join('\n')).toMatch(
    /\nTENANT +STAGE +RESULTS +UNMEASURED +AUDIO S .*\nacme +asr +2 /,
  );
});
