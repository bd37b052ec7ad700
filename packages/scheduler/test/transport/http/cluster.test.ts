/** Operators' view of several instances, and their commands, over HTTP. */
import { ClusterReply, DeadLettersReply, DeadLetterView, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { viewClusterNode, viewOnlineInstance } from '../../../src/transport/http/views/cluster-page-view.ts';
import { summarizeDeadLetter } from '../../../src/transport/http/views/dead-letter-view.ts';
import { STARTED_AT } from '../../support/test-cluster.ts';
import { AUDIO, LETTER, SAID, startClusterServer as start } from './start-cluster-server.ts';
import { REGISTER, startServer } from './start-server.ts';

describe('GET /api/v1/cluster', () => {
  it('instances are shown with their known values only', async () => {
    const { get, join, figures, die } = await start();
    await join('b', { advertiseUrl: undefined, startedAt: Date.now() + 60_000 });
    await join('c');
    await figures.write('c', { nodes: 4, sessions: 5, jobs: 6 }, 60_000);
    await die('c', LETTER);
    const { status, body } = await get('/api/v1/cluster');
    expect(status).toBe(200);
    expect(validator(ClusterReply)(body)).toMatchObject({ ok: true });
    expect(body).toMatchObject({
      instance_id: 'a',
      store: { mode: 'single', ok: true, detail: 'no replicas' },
      orphaned: [],
      warnings: ['1 dead letter: look at it with "lingua dlq list"'],
    });
    const [a, b, c] = body.instances;
    expect(a).toEqual({
      instance_id: 'a',
      state: 'self',
      incarnation: 'a-1',
      started_at_ms: STARTED_AT,
      uptime_ms: expect.any(Number),
      hostname: 'host-1',
      pid: 4711,
      version: '1.2.3',
      advertise_url: 'http://a:5010',
      nodes: 1,
      sessions: 2,
      jobs_in_flight: 3,
      inbox_messages: 0,
      inbox_pending: 0,
      dead_letters: 0,
      is_online: true,
      uptime_seconds: expect.any(Number),
      inbox_length: 0,
      dlq_length: 0,
    });
    expect(a.uptime_ms).toBeGreaterThan(0);
    // Its clock is ahead of ours.
    expect(b).toMatchObject({ instance_id: 'b', state: 'living', uptime_ms: 0 });
    for (const unknown of ['nodes', 'sessions', 'jobs_in_flight', 'advertise_url'])
      expect(b).not.toHaveProperty(unknown);
    expect(c).toMatchObject({ nodes: 4, sessions: 5, jobs_in_flight: 6, dead_letters: 1 });
  });

  it('the names that the cluster page of the platform reads are there', async () => {
    const { get, post, join, die } = await start();
    await join('b');
    await die('b', LETTER);
    await post('/v1/node/register', REGISTER);
    const { body } = await get('/api/v1/cluster');
    expect(validator(ClusterReply)(body)).toMatchObject({ ok: true });
    expect(body).toMatchObject({
      total_instances: 2,
      online_instances: 2,
      total_sessions: 2,
      total_pending: 0,
      total_dlq: 1,
    });
    const [a, b] = body.instances;
    expect(a).toMatchObject({ is_online: true, inbox_length: 0, dlq_length: 0 });
    expect(a.uptime_seconds).toBe(Math.floor(a.uptime_ms / 1_000));
    expect(b).toMatchObject({ is_online: true, dlq_length: 1 });
    for (const name of ['total_nodes', 'online_nodes', 'ready_nodes'])
      expect(body[name]).toBeTypeOf('number');
  });

  it.each([
    ['self', true],
    ['living', true],
    ['dead', false],
    ['unknown', false],
  ] as const)('an instance that is %s is online: %s', (state, isOnline) => {
    const line = { instanceId: 'b', state, instance: undefined, figures: undefined, inbox: undefined };
    expect(viewOnlineInstance(line, undefined)).toMatchObject({ is_online: isOnline, uptime_seconds: 0 });
  });

  it('nodes are listed as the cluster page of the platform reads them', () => {
    const node = {
      node_id: 'n',
      status: 'ready',
      used_slots: 1,
      max_concurrent_jobs: 4,
      ready_types: ['asr'],
    };
    const profile = { installedTypes: ['asr', 'nmt'], installedServices: ['a', 'b'], readyServices: ['a'] };
    expect(viewClusterNode(node as never, profile as never)).toEqual({
      node_id: 'n',
      platform: '',
      online: true,
      status: 'Ready',
      cpu_usage: 0,
      memory_usage: 0,
      gpu_usage: null,
      current_jobs: 1,
      max_concurrent_jobs: 4,
      last_heartbeat: 0,
      services: [
        { service_id: 'a', status: 'running' },
        { service_id: 'b', status: 'stopped' },
      ],
      capabilities: [
        { service_type: 'asr', ready: true },
        { service_type: 'nmt', ready: false },
      ],
    });
    const statusOf = (status: string) => viewClusterNode({ ...node, status } as never, undefined).status;
    expect(['registering', 'degraded', 'offline'].map(statusOf)).toEqual([
      'WarmingUp',
      'NotReady',
      'NotReady',
    ]);
    expect(viewClusterNode({ ...node, status: 'offline' } as never, undefined).online).toBe(false);
  });

  it('a single process is shown as embedded, with zeros', async () => {
    const { get } = await startServer();
    expect((await get('/api/v1/cluster')).body).toMatchObject({
      store: { mode: 'embedded', ok: true },
      instances: [{ state: 'self', nodes: 0, inbox_messages: 0, inbox_pending: 0, dead_letters: 0 }],
      warnings: [],
    });
  });

  it('dead letters of removed instances are shown', async () => {
    const { get, join, die, goForGood } = await start();
    const gone = await join('gone');
    await die('gone', LETTER);
    await goForGood(gone);
    expect((await get('/api/v1/cluster')).body.orphaned).toEqual([{ instance_id: 'gone', dead_letters: 1 }]);
  });

  it('the route does not exist without a cluster reader', async () => {
    const { get } = await startServer({ services: { cluster: undefined as never } });
    expect((await get('/api/v1/cluster')).status).toBe(404);
    expect((await get('/api/v1/dead-letters')).status).toBe(404);
  });
});

describe('GET /api/v1/dead-letters', () => {
  it('the list shows the topic of a dead letter, never its body', async () => {
    const { get, die } = await start();
    await die('a', LETTER);
    const { status, body } = await get('/api/v1/dead-letters');
    expect(status).toBe(200);
    expect(validator(DeadLettersReply)(body)).toMatchObject({ ok: true });
    expect(body).toEqual({
      unreachable: [],
      letters: [
        {
          id: expect.stringMatching(/^a:\d+-\d+$/),
          instance_id: 'a',
          kind: 'job_result',
          from: 'b',
          job_id: 'job-1',
          node_id: 'node-1',
          bytes: LETTER.length,
          deliveries: 1,
          reason: 'too_many_deliveries',
          died_at_ms: expect.any(Number),
          age_ms: expect.any(Number),
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('somebody');
  });

  it('the age of a dead letter is never negative', () => {
    const message = {
      instanceId: 'a',
      messageId: '5000-0',
      diedAt: 5_000,
      deliveries: 1,
      bytes: 0,
      head: '',
    };
    expect(summarizeDeadLetter(message, 4_000)).toMatchObject({ died_at_ms: 5_000, age_ms: 0 });
    expect(summarizeDeadLetter(message, 6_000)).toMatchObject({ age_ms: 1_000 });
  });

  it('paging returns every dead letter', async () => {
    const { get, join, die } = await start();
    await join('b');
    await die('a', 'one', 'two');
    await die('b', 'three');
    const first = await get('/api/v1/dead-letters?limit=2');
    expect(first.body.letters).toHaveLength(2);
    const second = await get(`/api/v1/dead-letters?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.letters).toMatchObject([{ instance_id: 'b', bytes: 5 }]);
    expect(second.body).not.toHaveProperty('next_cursor');
    expect((await get('/api/v1/dead-letters?instance_id=b')).body.letters).toHaveLength(1);
  });

  it.each([
    ['limit=0', '/limit'],
    ['cursor=nowhere', '/cursor'],
    ['cursor=a:(1-1', '/cursor'],
    ['instance_id=a%20b', '/instance_id'],
  ])('?%s is refused with the name of the field', async (query, field) => {
    const { get } = await start();
    expect(await get(`/api/v1/dead-letters?${query}`)).toMatchObject({ status: 400, body: { field } });
  });
});

describe('GET /api/v1/dead-letters/:id', () => {
  async function show(message: string, query = '') {
    const { get, die } = await start();
    await die('a', message);
    const { id } = (await get('/api/v1/dead-letters')).body.letters[0];
    const { status, body } = await get(`/api/v1/dead-letters/${id}${query}`);
    expect(status).toBe(200);
    expect(validator(DeadLetterView)(body)).toMatchObject({ ok: true });
    return body;
  }

  it('a dead letter is shown with the length of its audio', async () => {
    const { body, ...rest } = await show(LETTER);
    expect(rest).toMatchObject({ instance_id: 'a', kind: 'job_result' });
    expect(body.body.result).toEqual({ textAsr: SAID, ttsAudio: '[16 characters]', ttsFormat: 'wav' });
  });

  it('raw=true shows the audio, too', async () => {
    const { body } = await show(LETTER, '?raw=true');
    expect(body.body.result.ttsAudio).toBe(AUDIO);
  });

  it('audio is recognised by field name, and long base64 in any field', async () => {
    const long = 'QUJD'.repeat(200);
    const text = `${'word '.repeat(200)}`;
    const { body } = await show(
      JSON.stringify({
        audio: 'QQ==',
        audio_format: 'pcm16',
        list: [{ tts_audio: 'QQ==', x: long }],
        audio_chunk: ['QQ=='],
        text,
        audioAt: { url: 'http://a/v1/audio/job-1', token: 'secret', bytes: 5 },
        nothing: null,
      }),
    );
    expect(body).toEqual({
      audio: '[4 characters]',
      audio_format: 'pcm16',
      list: [{ tts_audio: '[4 characters]', x: '[800 characters]' }],
      audio_chunk: ['[4 characters]'],
      text,
      audioAt: { url: 'http://a/v1/audio/job-1', token: '[6 characters]', bytes: 5 },
      nothing: null,
    });
  });

  it('a body that is not JSON is shown by length, raw in full', async () => {
    expect((await show('no json at all')).body).toBe('[14 characters]');
    expect((await show('no json at all', '?raw=true')).body).toBe('no json at all');
    expect((await show('')).body).toBe('[0 characters]');
  });

  it('a deeply nested body is cut at the maximum depth', async () => {
    const { body } = await show(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(JSON.stringify(body)).toContain('nested deeper than is shown');
  });

  it('an unknown id gives 404, an invalid one 400', async () => {
    const { get } = await start();
    expect(await get('/api/v1/dead-letters/a:1-1')).toMatchObject({
      status: 404,
      body: { error: 'NOT_FOUND', hint: expect.stringContaining('/api/v1/dead-letters') },
    });
    expect(await get('/api/v1/dead-letters/a')).toMatchObject({ status: 400, body: { field: '/id' } });
  });
});

describe('POST /api/v1/dead-letters/:id/replay', () => {
  it('a replay puts the message into its inbox once', async () => {
    const { get, post, die, arrived } = await start();
    await die('a', LETTER);
    const { id } = (await get('/api/v1/dead-letters')).body.letters[0];
    expect(await post(`/api/v1/dead-letters/${id}/replay`)).toMatchObject({
      status: 200,
      body: { ok: true, id, to: 'a' },
    });
    expect((await post(`/api/v1/dead-letters/${id}/replay`)).status).toBe(404);
    expect(await arrived('a')).toEqual([LETTER]);
  });

  it('a full inbox gives 429 and keeps the dead letter', async () => {
    const { get, post, die, inbox } = await start({ maxMessages: 1 });
    await die('a', LETTER);
    await inbox.send('a', 'filler');
    const { id } = (await get('/api/v1/dead-letters')).body.letters[0];
    expect(await post(`/api/v1/dead-letters/${id}/replay`, {})).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED', detail: 'the inbox of a is full' },
    });
    expect((await get(`/api/v1/dead-letters/${id}`)).status).toBe(200);
  });
});

describe('DELETE /api/v1/dead-letters', () => {
  it('a purge removes by instance, by age, or all', async () => {
    const { join, die, remove } = await start();
    await join('b');
    for (const name of ['a', 'b']) await die(name, 'one', 'two');
    expect((await remove('?older_than_ms=60000')).body).toMatchObject({ purged: 0 });
    expect(await remove('?instance_id=b')).toMatchObject({
      status: 200,
      body: { ok: true, purged: 2, done: true, unreachable: [] },
    });
    expect((await remove('?all=true')).body).toMatchObject({ purged: 2 });
  });

  it('a purge without a filter is refused', async () => {
    const { die, remove, get } = await start();
    await die('a', 'one');
    for (const query of ['', '?all=false', '?all=true&instance_id=a', '?all=true&older_than_ms=0'])
      expect(await remove(query)).toMatchObject({ status: 400, body: { field: '/all' } });
    expect(await remove('?older_than_ms=-1')).toMatchObject({
      status: 400,
      body: { field: '/older_than_ms' },
    });
    expect((await get('/api/v1/dead-letters')).body.letters).toHaveLength(1);
  });
});
