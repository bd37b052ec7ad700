/** The session gateway over a real socket: opening, closing, and the order of messages about utterances. */
import type { NodeOptions } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { failure } from './support/legacy-node.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { chunk, INIT, openSession, sessionUrl, spoken, utterance } from './support/session-client.ts';
import { holdEachJob } from './support/session-jobs.ts';
import { MAX_BYTES, QUICK, SHORT_PAUSE } from './support/session-settings.ts';
import { AUDIO, type Settings, startApp } from './support/start-app.ts';

async function startServed(onJob: NodeOptions['onJob'] = async () => OUTPUT, settings: Settings = QUICK) {
  const app = await startApp(settings);
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  return { app, url, session: await openSession({ url }) };
}

describe('session_init_ack', () => {
  it('session_init_ack contains the agreed settings', async () => {
    const { session } = await startServed();
    expect(session.frames[0]).toEqual({
      type: 'session_init_ack',
      session_id: expect.stringMatching(/^s-[\w-]{22}$/),
      message: 'session open',
      trace_id: expect.stringMatching(/^[\w-]{22}$/),
      protocol_version: '1.0',
      use_binary_frame: false,
      negotiated_codec: 'pcm16',
      negotiated_audio_format: 'pcm16',
      negotiated_sample_rate: 16_000,
      negotiated_channel_count: 1,
      max_message_bytes: 2 * 1024 * 1024,
      resume_token: expect.stringMatching(/^[\w-]{43,}$/),
    });
  });

  it.each([
    [{ audio_format: 'opus', sample_rate: 48_000 }, 'opus', 48_000],
    [{ audio_format: 'wav', sample_rate: 8_000 }, 'pcm16', 8_000],
    [{ audio_format: null, sample_rate: null }, 'opus', 16_000],
  ])('session_init_ack to %j has %s at %d Hz, and so have the jobs', async (wanted, format, rate) => {
    const held = holdJobs();
    const { url } = await startServed(held.onJob);
    const session = await openSession({ url }, wanted);
    expect(session.frames[0]).toMatchObject({
      negotiated_codec: format,
      negotiated_audio_format: format,
      negotiated_sample_rate: rate,
    });
    session.send(spoken(session, 1));
    expect(await held.job()).toMatchObject({ audio_format: format, sample_rate: rate });
  });

  it('session_init_ack repeats the given trace_id', async () => {
    const { url } = await startServed();
    expect((await openSession({ url }, { trace_id: 'trace-7' })).frames[0]).toMatchObject({
      trace_id: 'trace-7',
    });
  });

  it('a second session_init ends the first session of the socket', async () => {
    const held = holdEachJob();
    const { app, url } = await startServed(held.onJob);
    const session = await openSession({ url }, { supports: null });
    session.send(spoken(session, 1));
    const { job_id } = await held.job();
    const before = session.sessionId();
    await session.init(INIT);
    expect(session.sessionId()).not.toBe(before);
    await eventually(async () => (await app.nodes())[0]?.used_slots === 0);
    expect(held.cancelled).toEqual([job_id]);
  });
});

describe('an utterance', () => {
  it('ui_events and result of an utterance come once and in order', async () => {
    const { session } = await startServed(async (_job, { partial }) => {
      partial('hel', false);
      partial('hello', true);
      return OUTPUT;
    });
    session.send(chunk(session, 1));
    session.send(chunk(session, 2, { is_final: true }));
    await session.outcome();
    expect(session.uiEvents(0)).toEqual([
      'INPUT_STARTED',
      'INPUT_ENDED',
      'DISPATCHED',
      'NODE_ACCEPTED',
      'ASR_PARTIAL',
      'ASR_FINAL',
      'NMT_DONE',
    ]);
    const order = session.frames.map(({ type, event }) => event ?? type);
    expect(order.indexOf('utterance_accepted')).toBeLessThan(order.indexOf('DISPATCHED'));
    expect(order.at(-1)).toBe('translation_result');
  });

  it('an utterance of one chunk begins with INPUT_STARTED', async () => {
    const { session } = await startServed();
    session.send(spoken(session, 1));
    await session.outcome();
    expect(session.uiEvents(0).slice(0, 3)).toEqual(['INPUT_STARTED', 'INPUT_ENDED', 'DISPATCHED']);
  });

  it('all messages of an utterance have one trace_id and job_id', async () => {
    const { session } = await startServed(async (_job, { partial }) => {
      partial('hello', true);
      return OUTPUT;
    });
    session.send(chunk(session, 1));
    session.send(chunk(session, 2, { is_final: true }));
    await session.outcome();
    const received = session.frames.filter(({ utterance_index: index }) => index === 0);
    expect(new Set(received.flatMap(({ trace_id: id }) => id ?? [])).size).toBe(1);
    expect(new Set(received.flatMap(({ job_id: id }) => id ?? [])).size).toBe(1);
  });

  it('asr_partial follows the node’s reports, the last one final', async () => {
    const texts = ['hel', 'hello', 'hello there'];
    const { url } = await startServed(async (job, { partial }) => {
      expect(job).toMatchObject({ enable_streaming_asr: true, partial_update_interval_ms: 200 });
      for (const text of texts) partial(text, text === texts.at(-1));
      return OUTPUT;
    });
    const wanted = { enable_streaming_asr: true, partial_update_interval_ms: 200 };
    const session = await openSession({ url }, wanted);
    session.send(spoken(session, 1));
    await session.outcome();
    expect(session.of('asr_partial')).toMatchObject(
      texts.map((text, at) => ({ utterance_index: 0, text, is_final: at === 2 })),
    );
  });

  it('a failed utterance gives missing_result and an error with a hint', async () => {
    const { session } = await startServed(() => {
      throw new Error('Unsupported audio format: mp3');
    });
    session.send(spoken(session, 1));
    expect(await session.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(session.uiEvents(0).at(-1)).toBe('ERROR');
    const { error } = failure('Unsupported audio format: mp3') as { error: { code: string } };
    expect(session.of('error')).toMatchObject([
      { code: error.code, details: { utterance_index: 0, hint: expect.stringMatching(/./) } },
    ]);
  });

  it('utterance_accepted names the chunks of the utterance', async () => {
    const { session } = await startServed(undefined, SHORT_PAUSE);
    for (const seq of [4, 5, 6]) session.send(chunk(session, seq));
    expect(await session.next('utterance_accepted')).toMatchObject({ first_seq: 4, last_seq: 6 });
    session.send(spoken(session, 7, 'req-seven'));
    expect(await session.next('utterance_accepted', 2)).toMatchObject({
      utterance_index: 1,
      request_id: 'req-seven',
      first_seq: 7,
      last_seq: 7,
    });
    await session.outcome(2);
  });

  it('an over-long utterance is cut into parts of one turn', async () => {
    const held = holdJobs();
    const { session } = await startServed(held.onJob, { ...QUICK, [MAX_BYTES]: 4_096 });
    const payload = Buffer.alloc(3_000, 1).toString('base64');
    for (const seq of [1, 2, 3]) session.send(chunk(session, seq, { payload, is_final: seq === 3 }));
    await held.job(3);
    session.send(spoken(session, 4));
    await held.job(4);
    const turns = held.begun.map(({ turn_id: turn }) => turn);
    expect(new Set(turns.slice(0, 3)).size).toBe(1);
    expect(turns[3]).not.toBe(turns[0]);
    held.finish();
    await session.outcome(4);
  });
});

describe('the other messages of a session', () => {
  it('client_heartbeat is answered by server_heartbeat', async () => {
    const { session } = await startServed();
    const before = Date.now();
    session.send({ type: 'client_heartbeat', session_id: session.sessionId(), timestamp: 1 });
    const { timestamp } = await session.next('server_heartbeat');
    expect(session.frames.at(-1)).toMatchObject({ session_id: session.sessionId() });
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before - 1);
    expect(Number(timestamp)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('session_close is acknowledged after the last outcome', async () => {
    const held = holdJobs();
    const { app, session } = await startServed(held.onJob);
    session.send(spoken(session, 1));
    session.send(chunk(session, 2));
    session.send({ type: 'session_close', session_id: session.sessionId(), reason: 'bye' });
    await held.job(2);
    session.send(chunk(session, 3));
    expect(await session.next('error')).toMatchObject({ code: 'SESSION_CLOSED' });
    expect(session.of('session_close_ack')).toEqual([]);
    held.finish();
    await session.next('session_close_ack');
    expect(session.outcomes().map(({ utterance_index: index }) => index)).toEqual([0, 1]);
    expect(session.frames.at(-1)?.type).toBe('session_close_ack');
    session.send(chunk(session, 4));
    expect(await session.next('error', 2)).toMatchObject({ code: 'INVALID_SESSION' });
    expect(app.app.sessions.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
  });

  it('session_close of an idle session is acknowledged at once', async () => {
    const { session } = await startServed();
    session.send({ type: 'session_close', session_id: session.sessionId(), reason: '' });
    expect(await session.next('session_close_ack')).toMatchObject({ session_id: session.sessionId() });
  });

  it('results of HTTP jobs are not sent to a socket', async () => {
    const { app, session } = await startServed();
    const { job_id } = await app.dispatch({ session_id: session.sessionId(), audio: AUDIO });
    await app.settled(job_id);
    session.send(utterance(session, 0));
    await session.outcome();
    expect(session.frames.some((frame) => frame.job_id === job_id)).toBe(false);
  });
});
