/** Opening a session: session_init, its URL, and refusals. */
import type { SchedulerToSession } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openSession } from '../../src/client/index.ts';
import { CLIENT_VERSION } from '../../src/client/session-options.ts';
import { ackOf, until } from './support/scripted-scheduler.ts';
import { beginSession, bytes, startSession } from './support/start-session.ts';

const SUPPORTS = ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'];
const complaint = (code: string): SchedulerToSession => ({ type: 'error', code, message: 'no' });

describe('session_init', () => {
  it('session_init contains only the required fields by default', async () => {
    const { scheduler, session, of } = await startSession();
    expect(scheduler.received).toEqual([
      {
        type: 'session_init',
        client_version: CLIENT_VERSION,
        platform: 'web',
        src_lang: 'en',
        tgt_lang: 'de',
        supports: SUPPORTS,
        audio_format: 'pcm16',
        sample_rate: 16_000,
      },
    ]);
    expect(of('open')).toEqual([{ type: 'open', sessionId: 's-1', resumed: false }]);
    expect(session.sessionId).toBe('s-1');
  });

  it('session_init contains every given option', async () => {
    const { scheduler } = await startSession({
      srcLang: 'auto',
      tgtLang: 'fr',
      dialect: 'swiss',
      features: { emotion_detection: true },
      tenantId: 'tenant-1',
      platform: 'api-gateway',
      clientVersion: '7',
      mode: 'two_way_auto',
      langA: 'de',
      langB: 'fr',
      autoLangs: ['de', 'fr'],
      audioFormat: 'opus',
      sampleRate: 48_000,
      enableStreamingAsr: true,
      partialUpdateIntervalMs: 300,
      traceId: 'trace-7',
    });
    expect(scheduler.received).toEqual([
      {
        type: 'session_init',
        client_version: '7',
        platform: 'api-gateway',
        src_lang: 'auto',
        tgt_lang: 'fr',
        dialect: 'swiss',
        features: { emotion_detection: true },
        tenant_id: 'tenant-1',
        mode: 'two_way_auto',
        lang_a: 'de',
        lang_b: 'fr',
        auto_langs: ['de', 'fr'],
        enable_streaming_asr: true,
        partial_update_interval_ms: 300,
        trace_id: 'trace-7',
        supports: SUPPORTS,
        audio_format: 'opus',
        sample_rate: 48_000,
      },
    ]);
  });

  it('the URL is /ws/session with the token as a parameter', async () => {
    const { scheduler } = await startSession({ token: 'a secret+1' });
    expect(scheduler.requests).toEqual(['/ws/session?token=a+secret%2B1']);
  });
});

describe('refused session', () => {
  it.each(['UNAUTHORIZED', 'FORBIDDEN', 'INVALID_MESSAGE'])(
    '%s fails the session permanently',
    async (code) => {
      const { scheduler, session, clock, events } = await beginSession({}, { answer: () => complaint(code) });
      session.sendAudio(bytes('kept'));
      await until(() => session.state === 'failed');
      expect(events).toEqual([
        { type: 'error', code, message: 'no', details: undefined, isFatal: true },
        { type: 'closed', reason: code, isAcknowledged: false, unsettledBytes: 4 },
      ]);
      expect(clock.waiting()).toEqual([]);
      expect(scheduler.connections()).toBe(1);
      expect(session.sendAudio(bytes('late'))).toBe(false);
      expect(await session.close()).toMatchObject({ reason: code });
      await session.settled();
    },
  );

  it('any other error is retried', async () => {
    const { scheduler, of, reconnect } = await beginSession(
      {},
      {
        answer: (_, count) => (count === 1 ? complaint('SCHEDULER_DEPENDENCY_DOWN') : ackOf('s-2')),
      },
    );
    await until(() => of('error').length === 1);
    expect(of('error')[0]).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN', isFatal: false });
    scheduler.hangUp(1013);
    await reconnect();
    expect(of('open')).toEqual([{ type: 'open', sessionId: 's-2', resumed: false }]);
  });

  it('a session that cannot be resumed is dropped', async () => {
    const { scheduler, clock, of } = await startSession(
      {},
      { answer: (_, count) => (count === 2 ? complaint('INVALID_SESSION') : ackOf(`s-${count}`)) },
    );
    scheduler.cut();
    await until(() => of('reconnecting').length === 1);
    clock.advance(0);
    await until(() => of('error').length === 1);
    scheduler.hangUp(1008);
    await until(() => of('reconnecting').length === 2);
    clock.advance(0);
    await until(() => of('open').length === 2);
    expect(scheduler.ofType('session_init', 'ever').map((init) => init.resume_session_id)).toEqual([
      undefined,
      's-1',
      undefined,
    ]);
  });

  it('a message that is too long fails the session permanently', async () => {
    const { scheduler, session, of } = await startSession();
    scheduler.hangUp(1009);
    await until(() => session.state === 'failed');
    expect(of('error')).toMatchObject([{ code: 'PAYLOAD_TOO_LARGE', isFatal: true }]);
  });
});

describe('unreachable scheduler', () => {
  it('connecting is retried for ever, with growing delays', async () => {
    const { scheduler, session, clock, of } = await beginSession(
      { chance: () => 0.999_999 },
      { refuseUpgrade: () => 503 },
    );
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      await until(() => of('reconnecting').length === attempt);
      clock.advance(of('reconnecting').at(-1)?.delayMs ?? 0);
    }
    expect(of('reconnecting').map(({ delayMs }) => delayMs)).toEqual([
      249, 499, 999, 1_999, 3_999, 7_999, 15_999, 29_999, 29_999,
    ]);
    expect(session.state).toBe('connecting');
    expect(scheduler.connections()).toBe(0);
  });

  it('an unanswered session_init is retried', async () => {
    const { scheduler, clock, of, reconnect } = await beginSession(
      {},
      { answer: (_, count) => (count === 1 ? undefined : ackOf('s-2')) },
    );
    await until(() => scheduler.received.length === 1);
    clock.advance(9_999);
    expect(of('disconnected')).toEqual([]);
    const again = reconnect();
    clock.advance(1);
    await again;
    expect(of('disconnected')).toMatchObject([{ reason: 'the scheduler does not answer' }]);
  });

  it('audio is accepted before the session is open', async () => {
    const { scheduler, session } = await beginSession();
    expect(session.state).toBe('connecting');
    expect(session.sendAudio(bytes('early'))).toBe(true);
    await until(() => scheduler.chunksHere().length === 1);
    expect(scheduler.chunksHere()).toEqual(['1early']);
  });
});

describe('invalid options', () => {
  const good = { url: 'ws://127.0.0.1:1', srcLang: 'en', tgtLang: 'de', WebSocket };

  it.each([
    ['invalid URL', { url: 'nowhere' }, /url must be an address/],
    ['unsupported scheme', { url: 'ftp://127.0.0.1' }, /url must begin with/],
    ['no source', { srcLang: '' }, /srcLang must be/],
    ['no target', { tgtLang: undefined as never }, /tgtLang must be/],
  ])('%s throws immediately', (_, wrong, message) => {
    expect(() => openSession({ ...good, ...wrong })).toThrow(message);
  });

  it('a runtime without WebSocket throws immediately', () => {
    const { WebSocket: _, ...rest } = good;
    if ('WebSocket' in globalThis) return;
    expect(() => openSession(rest)).toThrow(/no global WebSocket/);
  });
});
