/** The examples of the OpenAPI document succeed when they are executed, as the page /docs does it. */
import { ErrorReply, HTTP_ENDPOINTS, type HttpEndpoint, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { LETTER, startClusterServer } from '../transport/http/start-cluster-server.ts';
import { holdJobs, joinSdkNode } from './support/sdk-node.ts';
import { openSession, sessionUrl } from './support/session-client.ts';
import { startApp } from './support/start-app.ts';

/** They need an id that no other example returns, or do not end. */
const NEEDS_MORE: ReadonlySet<string> = new Set([
  'fetchAudio',
  'mintToken',
  'mintRoomToken',
  'followCaptions',
  'readDeadLetter',
  'replayDeadLetter',
  'closeSession',
  'describeSession',
]);

async function startExamples() {
  const app = await startApp({}, '', () => '');
  await joinSdkNode({
    url: app.nodeUrl,
    onJob: () => ({ text_asr: 'hello', text_translated: '你好', tts_audio: 'AQACAA==', tts_format: 'pcm16' }),
  });
  await app.readyNodes(1);
  const { body } = await app.post<{ job_id: string }>('/v1/translate', exampleOf('translate').example?.body);
  const made = await app.post<{ room_id: string }>('/v1/rooms', exampleOf('createRoom').example?.body);
  const room = { id: made.body.room_id, member: 's-1' };
  return {
    execute: (endpoint: HttpEndpoint) =>
      execute(app.url, endpoint, endpoint.tag === 'rooms' ? room : { id: body.job_id }),
  };
}

async function execute(
  url: string,
  { method, path, params, query, body: schema, example }: HttpEndpoint,
  made: Readonly<Record<string, string>> = {},
  token?: string,
) {
  const ids = params === undefined ? {} : (example?.params ?? made);
  const target = Object.entries(ids).reduce((to, [name, id]) => to.replace(`:${name}`, id), path);
  const search = new URLSearchParams();
  const fields = query === undefined ? {} : (example?.query ?? {});
  for (const [name, value] of Object.entries(fields)) search.set(name, String(value));
  return fetch(`${url}${target}?${search}`, {
    method,
    headers: {
      ...(schema !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(schema !== undefined && { body: JSON.stringify(example?.body) }),
  });
}

async function expectSuccess(endpoint: HttpEndpoint, response: Response): Promise<void> {
  const text = await response.text();
  expect(response.status, `${endpoint.method} ${endpoint.path}: ${text.slice(0, 300)}`).toBe(200);
  if (endpoint.reply !== undefined && endpoint.isStream !== true) {
    expect(validator(endpoint.reply)(JSON.parse(text)), endpoint.path).toMatchObject({ ok: true });
  }
}

function exampleOf(operationId: string): HttpEndpoint {
  const endpoint = HTTP_ENDPOINTS.find((entry) => entry.operationId === operationId);
  if (endpoint === undefined) throw new Error(`there is no operation ${operationId}`);
  return endpoint;
}

/** Jobs before the example's node, which would fetch them by hand; the node before what operators do to it. */
const ORDER = ['dispatch', 'jobs', 'nodes', 'operators', 'health'];
const inOrder = HTTP_ENDPOINTS.filter(({ operationId }) => !NEEDS_MORE.has(operationId)).sort(
  (a, b) => rank(a) - rank(b),
);

/** What removes the example's node comes last. */
function rank({ method, tag }: HttpEndpoint): number {
  return method === 'DELETE' ? ORDER.length : ORDER.indexOf(tag);
}

describe('OpenAPI', () => {
  it('every example succeeds when it is executed', async () => {
    const { execute } = await startExamples();
    for (const endpoint of inOrder) {
      // Statistics are not there at once.
      const response = await eventually(async () => {
        const reply = await execute(endpoint);
        return endpoint.operationId !== 'readStats' || reply.status === 200 ? reply : undefined;
      });
      await expectSuccess(endpoint, response);
    }
  });

  it('the example of fetchAudio succeeds with the reference of a running job', async () => {
    const app = await startApp({ 'scheduler.audio.inline_max_bytes': 0 });
    const held = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, onJob: held.onJob });
    await app.readyNodes(1);
    await app.dispatch();
    const { url = '', token } = (await held.job()).audio_ref ?? {};
    const ref = url.split('/').at(-1) as string;
    const endpoint = exampleOf('fetchAudio');
    await expectSuccess(endpoint, await execute(app.url, endpoint, { ref }, token));
    held.finish();
  });

  it('the example of closeSession succeeds with an open session', async () => {
    const app = await startApp();
    const session = await openSession({ url: sessionUrl(app) });
    const endpoint = exampleOf('closeSession');
    await expectSuccess(endpoint, await execute(app.url, endpoint, { id: session.sessionId() }));
  });

  it('the examples of dead letters succeed with a dead letter', async () => {
    const { url, die, get } = await startClusterServer();
    await die('a', LETTER);
    const { letters } = (await get('/api/v1/dead-letters')).body;
    for (const operationId of ['readDeadLetter', 'replayDeadLetter']) {
      const endpoint = exampleOf(operationId);
      await expectSuccess(endpoint, await execute(url, endpoint, { id: letters[0].id }));
    }
  });

  it('a refusal has a declared body', async () => {
    const { execute } = await startExamples();
    const refused = await execute({ ...exampleOf('translate'), example: { body: { src_lang: 'en' } } });
    expect(refused.status).toBe(400);
    expect(validator(ErrorReply)(await refused.json())).toMatchObject({ ok: true });
  });
});
