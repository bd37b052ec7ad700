/** What operators see and order of many instances over HTTP. */
import { ClusterReply, DeadLettersReply, DeadLetterView, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { summarizeDeadLetter } from '../../../src/transport/http/views/dead-letter-view.ts';
import { STARTED_AT } from '../../support/test-cluster.ts';
import { AUDIO, LETTER, SAID, startClusterServer as start } from './start-cluster-server.ts';
import { startServer } from './start-server.ts';

describe('GET /api/v1/cluster', () => {
  it('shows instances with what is known of them, and leaves out what is not', async () => {
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
    });
    expect(a.uptime_ms).toBeGreaterThan(0);
    // Its clock is ahead of ours.
    expect(b).toMatchObject({ instance_id: 'b', state: 'living', uptime_ms: 0 });
    for (const unknown of ['nodes', 'sessions', 'jobs_in_flight', 'advertise_url'])
      expect(b).not.toHaveProperty(unknown);
    expect(c).toMatchObject({ nodes: 4, sessions: 5, jobs_in_flight: 6, dead_letters: 1 });
  });

  it('shows one process alone as embedded, with zeros', async () => {
    const { get } = await startServer();
    expect((await get('/api/v1/cluster')).body).toMatchObject({
      store: { mode: 'embedded', ok: true },
      instances: [{ state: 'self', nodes: 0, inbox_messages: 0, inbox_pending: 0, dead_letters: 0 }],
      warnings: [],
    });
  });

  it('shows what instances that are gone left behind', async () => {
    const { get, join, die, goForGood } = await start();
    const gone = await join('gone');
    await die('gone', LETTER);
    await goForGood(gone);
    expect((await get('/api/v1/cluster')).body.orphaned).toEqual([{ instance_id: 'gone', dead_letters: 1 }]);
  });

  it('is not there if nobody can tell', async () => {
    const { get } = await startServer({ services: { cluster: undefined as never } });
    expect((await get('/api/v1/cluster')).status).toBe(404);
    expect((await get('/api/v1/dead-letters')).status).toBe(404);
  });
});

describe('GET /api/v1/dead-letters', () => {
  it('says what each letter is about, never what was said in it', async () => {
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

  it('makes no letter younger than now, whatever two clocks say', () => {
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

  it('goes through all of them in pages', async () => {
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
  ])('refuses ?%s and names the field', async (query, field) => {
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

  it('shows what it says, and the length of its audio only', async () => {
    const { body, ...rest } = await show(LETTER);
    expect(rest).toMatchObject({ instance_id: 'a', kind: 'job_result' });
    expect(body.body.result).toEqual({ textAsr: SAID, ttsAudio: '[16 characters]', ttsFormat: 'wav' });
  });

  it('shows the audio too when asked for it', async () => {
    const { body } = await show(LETTER, '?raw=true');
    expect(body.body.result.ttsAudio).toBe(AUDIO);
  });

  it('finds audio by its name anywhere, and long base64 by any name', async () => {
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

  it('shows the length of what is no JSON, and the whole of it when asked', async () => {
    expect((await show('no json at all')).body).toBe('[14 characters]');
    expect((await show('no json at all', '?raw=true')).body).toBe('no json at all');
    expect((await show('')).body).toBe('[0 characters]');
  });

  it('is not brought down by a letter that is nested without end', async () => {
    const { body } = await show(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(JSON.stringify(body)).toContain('nested deeper than is shown');
  });

  it('answers 404 to a letter that is not there, and 400 to what is no id', async () => {
    const { get } = await start();
    expect(await get('/api/v1/dead-letters/a:1-1')).toMatchObject({
      status: 404,
      body: { error: 'NOT_FOUND', hint: expect.stringContaining('/api/v1/dead-letters') },
    });
    expect(await get('/api/v1/dead-letters/a')).toMatchObject({ status: 400, body: { field: '/id' } });
  });
});

describe('POST /api/v1/dead-letters/:id/replay', () => {
  it('puts the letter into the inbox of its instance again, once', async () => {
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

  it('answers 429 and keeps the letter when the inbox is full', async () => {
    const { get, post, die, inbox } = await start({ maxMessages: 1 });
    await die('a', LETTER);
    await inbox.send('a', 'fills it');
    const { id } = (await get('/api/v1/dead-letters')).body.letters[0];
    expect(await post(`/api/v1/dead-letters/${id}/replay`, {})).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED', detail: 'the inbox of a is full' },
    });
    expect((await get(`/api/v1/dead-letters/${id}`)).status).toBe(200);
  });
});

describe('DELETE /api/v1/dead-letters', () => {
  it('removes what it is told, of an instance, of an age, or all', async () => {
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

  it('removes nothing without being told which', async () => {
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
