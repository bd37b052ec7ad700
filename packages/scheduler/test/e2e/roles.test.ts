/** Every endpoint and socket with a token of every role, against the table that docs/roles.md is printed from. */
import {
  HTTP_ENDPOINTS,
  type HttpEndpoint,
  type JobView,
  ROLE_NAMES,
  type Role,
  rolesIn,
  speechFields,
} from '@lingua/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { joinSdkNode } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const tokenOf = (role: Role): string => `${role}-token-0123456789`;

const TOML = ROLE_NAMES.map((role) =>
  [
    '[[server.tokens]]',
    `token = "${tokenOf(role)}"`,
    `role = "${role}"`,
    `name = "${role}-1"`,
    ...(role === 'client' ? ['tenant_id = "acme"'] : []),
    '',
  ].join('\n'),
).join('\n');

const nameOf = ({ method, path }: HttpEndpoint): string => `${method} ${path}`;
const mayCall = ({ roles }: HttpEndpoint, role: Role): boolean =>
  typeof roles !== 'string' && roles.some((each) => rolesIn(role).has(each));
const endpointsOf = (role: Role): readonly HttpEndpoint[] =>
  HTTP_ENDPOINTS.filter((endpoint) => mayCall(endpoint, role));

/** Calls the endpoint with its example; `ids` fill the path. */
async function callAs(
  { url }: RunningApp,
  { method, path, body, query, example }: HttpEndpoint,
  token: string | undefined,
  id: string,
) {
  const target = Object.entries({ id, ref: id, ...example?.params }).reduce(
    (known, [name, value]) => known.replace(`:${name}`, String(value)),
    path,
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query === undefined ? {} : (example?.query ?? {})))
    search.set(name, String(value));
  const ending = new AbortController();
  const response = await fetch(`${url}${target}?${search}`, {
    method,
    signal: ending.signal,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(example?.body ?? {}) }),
  });
  // The events of a job that has no outcome yet do not end.
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
  const text = isStream ? '' : await response.text();
  if (isStream) ending.abort();
  return { status: response.status, text };
}

function knock(url: string, token: string | undefined): Promise<number | 'open'> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const ws = new WebSocket(url, { headers });
  onTestFinished(() => ws.terminate());
  return new Promise((resolve, reject) => {
    ws.on('open', () => resolve('open'));
    ws.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    ws.on('error', reject);
  });
}

/** The node recognises this text. */
const SECRET = 'meet-me-at-nine';

async function startWithJob() {
  const app = await startApp({}, TOML, () => TOML);
  await joinSdkNode({
    url: app.nodeUrl,
    token: tokenOf('node'),
    onJob: () => ({
      text_asr: SECRET,
      text_translated: SECRET,
      tts_audio: 'AQACAA==',
      tts_format: 'pcm16',
      extra: { note: SECRET },
    }),
  });
  const utterance = { src_lang: 'en', tgt_lang: 'zh', audio: 'AAAAAAAAAAA=' };
  const { body } = await app.post<{ job_id: string }>('/v1/translate', utterance, tokenOf('client'));
  return { app, jobId: body.job_id };
}

describe('roles', () => {
  it('every endpoint admits the roles of the table, and no other', async () => {
    const { app, jobId } = await startWithJob();
    for (const endpoint of HTTP_ENDPOINTS) {
      if (typeof endpoint.roles === 'string') continue;
      expect((await callAs(app, endpoint, undefined, jobId)).status, nameOf(endpoint)).toBe(401);
      for (const role of ROLE_NAMES) {
        const { status, text } = await callAs(app, endpoint, tokenOf(role), jobId);
        const isRefused = status === 403 && text.includes('may not act as');
        expect(isRefused, `${role}: ${nameOf(endpoint)} ${status}`).toBe(!mayCall(endpoint, role));
        expect(status, `${role}: ${nameOf(endpoint)}`).not.toBe(401);
        expect(status, `${role}: ${nameOf(endpoint)}`).not.toBe(500);
      }
    }
  });

  it('sockets admit only their role and those that include it', async () => {
    const { app } = await startWithJob();
    const sessionUrl = app.nodeUrl.replace('/ws/node', '/ws/session');
    for (const [url, needed] of [
      [app.nodeUrl, 'node'],
      [sessionUrl, 'client'],
    ] as const) {
      expect(await knock(url, undefined)).toBe(401);
      for (const role of ROLE_NAMES)
        expect(await knock(url, tokenOf(role)), role).toBe(rolesIn(role).has(needed) ? 'open' : 403);
    }
  });

  it('a viewer never receives what people said, others do', async () => {
    const { app, jobId } = await startWithJob();
    for (const endpoint of endpointsOf('viewer')) {
      const { text } = await callAs(app, endpoint, tokenOf('viewer'), jobId);
      expect(text, nameOf(endpoint)).not.toContain(SECRET);
    }
    const job = await app.get<JobView>(`/v1/job/${jobId}`, tokenOf('viewer'));
    expect(job.body).toMatchObject({ outcome: 'finished', tenant_id: 'acme', result: { success: true } });
    expect(job.body.result).not.toHaveProperty('tts_audio');
    for (const role of ['client', 'operator', 'admin'] as const)
      expect((await app.get<JobView>(`/v1/job/${jobId}`, tokenOf(role))).body.result?.text_asr).toBe(SECRET);
  });

  it('whoami names the role and tenant of the token', async () => {
    const { app } = await startWithJob();
    const read = (role: Role) => app.get('/v1/whoami', tokenOf(role));
    expect((await read('client')).body).toEqual({
      role: 'client',
      roles: ['client'],
      is_anonymous: false,
      name: 'client-1',
      tenant_id: 'acme',
    });
    expect((await read('viewer')).body).toMatchObject({ role: 'viewer', roles: ['viewer', 'metrics'] });
    expect((await read('operator')).body.role).toBe('operator');
    expect((await read('admin')).body.role).toBe('admin');
    const open = await startApp();
    expect((await open.get('/v1/whoami')).body).toMatchObject({ role: 'admin', is_anonymous: true });
  });
});

describe('table of roles', () => {
  it('metrics reads /metrics only, and a viewer changes nothing', () => {
    expect(endpointsOf('metrics').map(nameOf)).toEqual(['GET /metrics']);
    expect(endpointsOf('viewer').filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('each of metrics, viewer, operator and admin may do all that the one before may', () => {
    const chain = ['metrics', 'viewer', 'operator', 'admin'] as const;
    for (const [index, role] of chain.slice(1).entries())
      expect(endpointsOf(role)).toEqual(expect.arrayContaining([...endpointsOf(chain[index] as Role)]));
    expect(endpointsOf('operator')).toEqual(
      expect.arrayContaining([...endpointsOf('client'), ...endpointsOf('node')]),
    );
  });

  it('nodes reach nothing below /api, and clients only what their own tenant used', () => {
    const below = (role: Role) =>
      endpointsOf(role)
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/api'));
    expect([below('node'), below('client')]).toEqual([[], ['/api/v1/usage']]);
  });

  it('texts and audio of a job are marked as speech', () => {
    const readJob = HTTP_ENDPOINTS.find(({ operationId }) => operationId === 'readJob');
    expect(speechFields(readJob?.reply)).toEqual([
      'result.text_asr',
      'result.text_translated',
      'result.tts_audio',
      'result.extra',
      'result.error.message',
      'result.error.details',
    ]);
  });
});
