import { afterEach, describe, expect, it } from 'vitest';
import { openSessions } from './open-sessions.ts';
import { startServer } from './start-server.ts';

const running: { stop(): void }[] = [];
afterEach(() => {
  for (const { stop } of running.splice(0)) stop();
});

async function start() {
  const opened = openSessions();
  running.push(opened.sessions);
  const { get, post } = await startServer({ services: { sessions: opened.sessions } });
  const page = async (query = '') => (await get(`/api/v1/sessions${query}`)).body;
  /** The ids of every page, requested one after the other. */
  const walk = async (query: string, between: () => void = () => {}) => {
    const pages: string[][] = [];
    let cursor = '';
    for (;;) {
      const { sessions, next_cursor } = await page(`?${query}${cursor}`);
      pages.push(sessions.map(({ session_id }: { session_id: string }) => session_id));
      if (next_cursor === undefined) return pages;
      cursor = `&cursor=${next_cursor}`;
      between();
    }
  };
  return { ...opened, get, post, page, walk };
}

describe('GET /api/v1/sessions', () => {
  it('a session is shown without its texts', async () => {
    const { open, say, page } = await start();
    const sessionId = open('acme', { canResume: true });
    say(sessionId, Buffer.from('a secret sentence'), true);
    say(sessionId, Buffer.from('another'));
    const body = await page();
    expect(body).toEqual({
      sessions: [
        {
          session_id: sessionId,
          tenant_id: 'acme',
          state: 'open',
          connected: true,
          legacy: false,
          platform: 'web',
          src_lang: 'auto',
          tgt_lang: 'en',
          mode: 'two_way_auto',
          lang_a: 'zh',
          lang_b: 'en',
          next_utterance_index: 1,
          last_delivery_seq: 0,
          running_utterances: 1,
          pending_results: 0,
          kept_results: 0,
          audio_bytes: 24,
          opened_at_ms: expect.any(Number),
        },
      ],
    });
  });

  it('a disconnected session shows its resume deadline until it expires', async () => {
    const { open, leave, page } = await start();
    const patient = open('acme', { canResume: true });
    const legacy = open('acme');
    leave(patient);
    leave(legacy);
    const { sessions } = await page();
    expect(sessions).toMatchObject([
      { session_id: patient, connected: false, resumable_until_ms: expect.any(Number) },
    ]);
  });

  it('pages list every session once, newest first', async () => {
    const { open, walk } = await start();
    const ids = Array.from({ length: 5 }, () => open('acme'));
    expect(await walk('limit=2')).toEqual([[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]);
    expect((await walk('limit=5')).flat()).toHaveLength(5);
  });

  it('a cursor works after its session has ended', async () => {
    const { open, leave, walk } = await start();
    const ids = Array.from({ length: 200 }, () => open('acme'));
    const seen = await walk('limit=50', () => {
      // The page that was read, and some later ones.
      for (const id of ids.splice(100)) leave(id);
    });
    expect(seen.flat().slice(-ids.length)).toEqual([...ids].reverse());
    expect(new Set(seen.flat()).size).toBe(seen.flat().length);
  });

  it('the list has exactly the open sessions after many changes', async () => {
    const { open, leave, walk } = await start();
    const ids = Array.from({ length: 2_000 }, () => open('acme'));
    const stays = (at: number) => at % 7 === 0 && (at < 300 || at > 900);
    for (const [at, id] of ids.entries()) if (!stays(at)) leave(id);
    const later = [open('acme'), open('acme')];
    const left = [...ids.filter((_, at) => stays(at)), ...later];
    expect((await walk('limit=50')).flat()).toEqual(left.reverse());
    for (const id of left) leave(id);
    expect(await walk('limit=50')).toEqual([[]]);
    const last = open('acme');
    expect(await walk('limit=50')).toEqual([[last]]);
  });

  it('sessions that open during paging do not delay its end', async () => {
    const { open, walk } = await start();
    for (let count = 0; count < 6; count += 1) open('acme');
    const pages = await walk('limit=2', () => {
      for (let count = 0; count < 4; count += 1) open('acme');
    });
    expect(pages.flat()).toHaveLength(6);
  });

  it('a tenant filter pages with bounded work per request', async () => {
    const { open, walk } = await start();
    const wanted = open('rare');
    for (let count = 0; count < 12_000; count += 1) open('many');
    const pages = await walk('tenant_id=rare');
    expect(pages).toHaveLength(3);
    expect(pages.flat()).toEqual([wanted]);
  });

  it('a forged cursor, or one of other filters or another instance, is refused', async () => {
    const { open, page, get } = await start();
    for (let count = 0; count < 3; count += 1) open('acme');
    const { next_cursor: cursor } = await page('?limit=1');
    const other = await start();
    for (let count = 0; count < 3; count += 1) other.open('acme');
    const { next_cursor: foreign } = await other.page('?limit=1');
    for (const query of [
      'cursor=x',
      'cursor=-1',
      `cursor=${cursor}0`,
      `cursor=${foreign}`,
      `cursor=${cursor}&tenant_id=acme`,
    ]) {
      expect(await get(`/api/v1/sessions?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'INVALID_MESSAGE', field: '/cursor', hint: expect.stringContaining('next_cursor') },
      });
    }
    expect((await get(`/api/v1/nodes?cursor=${cursor}`)).body.field).toBe('/cursor');
    expect((await page(`?limit=2&cursor=${cursor}`)).sessions).toHaveLength(2);
    expect(await get('/api/v1/sessions?limit=0')).toMatchObject({ status: 400, body: { field: '/limit' } });
  });
});

describe('POST /api/v1/sessions/:id/close', () => {
  it('ends the session', async () => {
    const { open, page, post } = await start();
    const sessionId = open('acme', { canResume: true });
    expect(await post(`/api/v1/sessions/${sessionId}/close`, { reason: 'test' })).toMatchObject({
      status: 200,
      body: { ok: true, session_id: sessionId, state: 'closing' },
    });
    expect((await page()).sessions).toEqual([]);
  });

  it('an unknown session is refused by its field', async () => {
    const { post } = await start();
    expect(await post('/api/v1/sessions/s-none/close')).toMatchObject({
      status: 404,
      body: { field: '/id' },
    });
  });

  it('names the instances that did not answer', async () => {
    const closeSession = async () => ({ kind: 'unknown', unreachable: ['instance-2'] }) as const;
    const { post } = await startServer({ services: { closeSession } });
    const answer = await post('/api/v1/sessions/s-1/close');
    expect(answer.status).toBe(503);
    expect(answer.body.detail).toContain('no answer from instance-2');
  });
});
