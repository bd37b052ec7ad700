/** The session socket on a clock that the test steps: errors, deadlines and closing. */
import { afterEach, describe, expect, it } from 'vitest';
import { until } from './harness.ts';
import {
  INIT,
  INIT_DEADLINE_MS,
  startSessions as start,
  stopSessions,
  TENANT_FULL,
} from './session-harness.ts';

afterEach(stopSessions);

describe('errors to session clients', () => {
  it('a legacy client gets one error per 10 s, others get each', async () => {
    const { clock, sessions, connect } = await start();
    const [field, made] = [await connect(), await connect()];
    field.send(INIT);
    made.send({ ...INIT, supports: [] });
    await until(() => sessions.links.length === 2);
    const failBoth = async (expected: readonly [number, number]) => {
      for (const link of sessions.links) {
        link.send('s-1', { kind: 'error', code: 'RATE_LIMITED', message: 'session is full' });
      }
      for (const client of [field, made]) client.send('nonsense');
      await made.message(expected[1] - 1);
      // Messages are answered in order, so every earlier error has been sent by then.
      field.send({ type: 'client_heartbeat', session_id: 's-1', timestamp: 1 });
      await until(() => sessions.received.length > 0);
      sessions.received.length = 0;
      expect([field.received.length, made.received.length]).toEqual(expected);
    };
    await failBoth([1, 2]);
    clock.advance(9_999);
    await failBoth([1, 4]);
    clock.advance(1);
    await failBoth([2, 6]);
  });

  it('late frames give an error to non-legacy clients only', async () => {
    const { meter, sessions, connect } = await start();
    const [field, made] = [await connect(), await connect()];
    field.send(INIT);
    made.send({ ...INIT, supports: [] });
    await until(() => sessions.links.length === 2);
    for (const client of [field, made]) {
      client.send({ type: 'client_heartbeat', session_id: 's-gone', timestamp: 1 });
    }
    expect(await made.message(0)).toMatchObject({ type: 'error', code: 'INVALID_SESSION' });
    const dropped = () =>
      meter.total('scheduler_session_messages_dropped_total', { reason: 'unknown_session' });
    await until(() => dropped() === 2);
    expect(field.received).toEqual([]);
  });
});

describe('session socket', () => {
  it('a socket without session_init is closed after a minute', async () => {
    const { clock, sessions, connect } = await start();
    const [silent, known] = [await connect(), await connect()];
    known.send(INIT);
    await until(() => sessions.links.length === 1);
    clock.advance(INIT_DEADLINE_MS - 1);
    expect(silent.ws.readyState).toBe(silent.ws.OPEN);
    clock.advance(1);
    expect((await silent.closed).code).toBe(4401);
    clock.advance(INIT_DEADLINE_MS);
    expect(known.ws.readyState).toBe(known.ws.OPEN);
  });

  it('a socket sends for its credential, and leaves its session on close', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    client.send(INIT);
    client.send({ type: 'client_heartbeat', session_id: 's-1', timestamp: 1 });
    await until(() => sessions.received.length === 1);
    expect(sessions.received[0]).toMatchObject({ sessionId: 's-1', credential: 'peer:loopback' });
    client.ws.terminate();
    await until(() => sessions.left.length === 1);
    expect(sessions.left).toEqual(['s-1']);
  });

  it('a second session_init leaves the first session', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    client.send(INIT);
    client.send(INIT);
    await until(() => sessions.links.length === 2);
    expect(sessions.left).toEqual(['s-1']);
  });

  it('a socket whose session was resumed elsewhere is closed with 4000', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    client.send(INIT);
    await until(() => sessions.links.length === 1);
    sessions.links[0]?.replaced();
    expect(await client.closed).toEqual({ code: 4000, reason: 'replaced' });
  });

  it('sockets of a fenced instance are closed with 1012', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    client.send(INIT);
    await until(() => sessions.links.length === 1);
    sessions.links[0]?.abandoned();
    expect(await client.closed).toEqual({ code: 1012, reason: 'fenced' });
  });

  it('the upgrade is refused when sessions are full or the instance drains', async () => {
    const { sessions, refusal, drain } = await start();
    sessions.isFull = true;
    expect(await refusal()).toMatchObject({ status: 503, body: { error: 'RATE_LIMITED' } });
    sessions.isFull = false;
    drain();
    expect(await refusal()).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
  });

  it('a session_init without a free session slot is refused and closed', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    sessions.isFull = true;
    client.send(INIT);
    expect((await client.closed).code).toBe(1013);
    expect(client.received).toMatchObject([
      { type: 'error', code: 'RATE_LIMITED', message: TENANT_FULL.detail },
    ]);
  });

  it('every field of session_init is passed on, and null counts as absent', async () => {
    const { sessions, connect } = await start();
    const client = await connect();
    client.send({ ...INIT, dialect: null, trace_id: '', supports: ['result_ack', 'of-tomorrow'] });
    client.send({ ...INIT, supports: null, pairing_code: '1', resume_session_id: 's-9', resume_token: 't' });
    await until(() => sessions.openings.length === 2);
    expect(sessions.openings[0]).toMatchObject({ traceId: 'trace-1', warning: undefined, resume: undefined });
    expect([...(sessions.openings[0]?.abilities ?? [])]).toEqual(['result_ack', 'of-tomorrow']);
    expect(sessions.openings[1]).toMatchObject({
      abilities: undefined,
      resume: { sessionId: 's-9', token: 't' },
      warning: expect.stringContaining('pairing'),
    });
  });
});

describe('while a session is fetched from another instance', () => {
  function fetching() {
    let end: (what: 'there' | 'unavailable') => void = () => {};
    const promise = new Promise<'there' | 'unavailable'>((resolve) => {
      end = resolve;
    });
    return { promise, end };
  }

  it('messages wait for the fetched session and arrive in order', async () => {
    const { sessions, connect } = await start();
    const { promise, end } = fetching();
    sessions.fetching = promise;
    const client = await connect();
    client.send(INIT);
    for (const seq of [1, 2, 3])
      client.send({ type: 'audio_chunk', session_id: 's-1', seq, is_final: false, payload: 'AAAA' });
    await until(() => sessions.openings.length === 1);
    const other = await connect();
    other.send({ type: 'client_heartbeat', session_id: 's-2', timestamp: 1 });
    await until(() => sessions.received.length === 1);
    end('there');
    await until(() => sessions.received.length === 4);
    expect(sessions.received.slice(1).map(({ event }) => event)).toMatchObject([
      { seq: 1 },
      { seq: 2 },
      { seq: 3 },
    ]);
  });

  it('a client that disconnects meanwhile leaves the fetched session', async () => {
    const { sessions, connect } = await start();
    const { promise, end } = fetching();
    sessions.fetching = promise;
    const client = await connect();
    client.send(INIT);
    await until(() => sessions.openings.length === 1);
    client.ws.terminate();
    const other = await connect();
    other.send({ type: 'client_heartbeat', session_id: 's-2', timestamp: 1 });
    await until(() => sessions.received.length === 1);
    expect(sessions.left).toEqual([]);
    end('there');
    await until(() => sessions.left.length > 0);
    expect(sessions.left).toEqual(['s-1']);
  });

  it('the client may retry when Redis is down', async () => {
    const { sessions, connect } = await start();
    sessions.fetching = Promise.resolve('unavailable');
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    expect((await client.closed).code).toBe(1013);
    expect(client.received).toMatchObject([{ type: 'error', code: 'SCHEDULER_DEPENDENCY_DOWN' }]);
  });
});
