/** Outgoing audio: numbers, request ids, ends, whole utterances, and the limit. */
import { describe, expect, it } from 'vitest';
import { accepted, bytes, result, startSession } from './support/start-session.ts';

describe('audio chunks', () => {
  it('chunks are numbered from 1, and an utterance has one random id', async () => {
    const { scheduler, session } = await startSession();
    for (const text of ['one', 'two']) session.sendAudio(bytes(text));
    const first = session.endUtterance();
    session.sendAudio(bytes('three'));
    const second = session.endUtterance();
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['1one', '2two', '3!', '4three', '5!']);
    expect(scheduler.ofType('audio_chunk').map((chunk) => chunk.request_id)).toEqual([
      first,
      first,
      first,
      second,
      second,
    ]);
    expect(first).toMatch(/^req-[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
    expect(scheduler.ofType('audio_chunk')[0]).toEqual({
      type: 'audio_chunk',
      session_id: 's-1',
      seq: 1,
      is_final: false,
      payload: Buffer.from('one').toString('base64'),
      request_id: first,
    });
    expect(scheduler.refused).toEqual([]);
  });

  it('a waiting chunk carries the end of its utterance', async () => {
    const { scheduler, session, reconnect } = await startSession();
    scheduler.cut();
    session.sendAudio(bytes('one'));
    session.endUtterance();
    await reconnect();
    // Sent before or after the connection broke: the end arrives once.
    expect(scheduler.chunksHere().join('').match(/!/g)).toHaveLength(1);
  });

  it.each([
    ['bytes', bytes('good')],
    ['a Buffer', Buffer.from('good')],
  ])('chunks are copied, so that a recorder may reuse %s', async (_, buffer) => {
    const { scheduler, session, clock } = await startSession();
    scheduler.send({ type: 'backpressure', action: 'PAUSE', resume_after_ms: 100 });
    await scheduler.caughtUp();
    session.sendAudio(buffer);
    session.sendUtterance(buffer);
    buffer.fill(0);
    clock.advance(100);
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['1good']);
    expect(scheduler.ofType('utterance')[0]?.audio).toBe(Buffer.from('good').toString('base64'));
  });

  it('an empty chunk is ignored', async () => {
    const { scheduler, session } = await startSession();
    expect(session.sendAudio(new Uint8Array(0))).toBe(true);
    expect(session.endUtterance()).toBeUndefined();
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual([]);
  });

  it('every byte value is preserved', async () => {
    const { scheduler, session } = await startSession();
    const all = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
    session.sendAudio(all);
    await scheduler.caughtUp();
    const sent = scheduler.ofType('audio_chunk').map(({ payload = '' }) => Buffer.from(payload, 'base64'));
    expect(Buffer.concat(sent).equals(all)).toBe(true);
  });

  it('no end is sent where the scheduler has cut already', async () => {
    const { scheduler, session } = await startSession();
    session.sendAudio(bytes('one'));
    scheduler.send(accepted(0, 1, 1));
    await scheduler.caughtUp();
    expect(session.endUtterance()).toMatch(/^req-/);
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['1one']);
  });
});

describe('whole utterances', () => {
  it('an utterance has the options of its session unless overridden', async () => {
    const { scheduler, session } = await startSession({ dialect: 'swiss', mode: 'one_way' });
    const first = session.sendUtterance(bytes('one'));
    session.sendUtterance(bytes('two'), {
      requestId: 'req-mine',
      tgtLang: 'fr',
      dialect: undefined,
      manualCut: false,
      audioFormat: 'wav',
      sampleRate: 8_000,
      traceId: 'trace-2',
      pipeline: { use_asr: true, use_nmt: true, use_tts: false },
    });
    await scheduler.caughtUp();
    const shared = {
      type: 'utterance',
      session_id: 's-1',
      src_lang: 'en',
      dialect: 'swiss',
      mode: 'one_way',
    };
    expect(scheduler.ofType('utterance')).toEqual([
      {
        ...shared,
        utterance_index: 0,
        manual_cut: true,
        tgt_lang: 'de',
        audio: Buffer.from('one').toString('base64'),
        audio_format: 'pcm16',
        sample_rate: 16_000,
        request_id: first,
      },
      {
        ...shared,
        utterance_index: 1,
        manual_cut: false,
        tgt_lang: 'fr',
        audio: Buffer.from('two').toString('base64'),
        audio_format: 'wav',
        sample_rate: 8_000,
        trace_id: 'trace-2',
        pipeline: { use_asr: true, use_nmt: true, use_tts: false },
        request_id: 'req-mine',
      },
    ]);
    expect(scheduler.refused).toEqual([]);
  });

  it('utterances are numbered after the highest known number', async () => {
    const { scheduler, session } = await startSession();
    session.sendAudio(bytes('x'));
    session.endUtterance();
    scheduler.send(accepted(41, 1, 2));
    await scheduler.caughtUp();
    session.sendUtterance(bytes('one'));
    await scheduler.caughtUp();
    expect(scheduler.ofType('utterance')[0]?.utterance_index).toBe(42);
  });

  it('utterances are matched by request id, whatever number they get', async () => {
    const { scheduler, session, of } = await startSession();
    const id = session.sendUtterance(bytes('one')) ?? '';
    await scheduler.caughtUp();
    scheduler.send({ type: 'utterance_accepted', utterance_index: 7, job_id: 'job-7', request_id: id });
    scheduler.send(result(7));
    await session.settled();
    expect(of('accepted')).toEqual([{ type: 'accepted', utteranceIndex: 7, requestId: id, jobId: 'job-7' }]);
    expect(of('result')).toMatchObject([{ utteranceIndex: 7, requestId: id }]);
    expect(session.unsettledBytes).toBe(0);
  });

  it('an utterance without audio, or too long, throws', async () => {
    const { session } = await startSession({ limits: { maxUtteranceBytes: 10, maxChunkBytes: 5 } });
    expect(() => session.sendUtterance(new Uint8Array(0))).toThrow(RangeError);
    expect(() => session.sendUtterance(new Uint8Array(11))).toThrow(/11 bytes of audio at once/);
    expect(() => session.sendAudio(new Uint8Array(6))).toThrow(RangeError);
    expect(() => session.sendAudio([1, 2] as never)).toThrow(TypeError);
  });
});

describe('limits of kept audio', () => {
  it('audio beyond the limit is refused with an event; accepted audio stays', async () => {
    const limits = { maxKeptBytes: 300 };
    const { scheduler, session, events, of } = await startSession({ limits });
    expect(session.sendAudio(new Uint8Array(100).fill(65))).toBe(true);
    const before = events.length;
    expect(session.sendAudio(new Uint8Array(100))).toBe(false);
    expect(session.sendUtterance(new Uint8Array(90))).toBeUndefined();
    expect(events.slice(before)).toEqual([
      { type: 'overflow', refusedBytes: 100, keptBytes: 164, limitBytes: 300 },
      { type: 'overflow', refusedBytes: 90, keptBytes: 164, limitBytes: 300 },
    ]);
    session.endUtterance();
    await scheduler.caughtUp();
    expect(scheduler.ofType('audio_chunk').map(({ seq }) => seq)).toEqual([1, 2]);
    scheduler.send(accepted(0, 1, 2));
    scheduler.send(result(0));
    await session.settled();
    expect(session.sendAudio(new Uint8Array(100))).toBe(true);
    expect(of('overflow')).toHaveLength(2);
  });

  it('the next utterance waits until fewer than the maximum are in flight', async () => {
    const { scheduler, session, clock } = await startSession({ limits: { maxUtterancesInFlight: 2 } });
    for (const text of ['one', 'two', 'three', 'four'])
      session.sendUtterance(bytes(text), { requestId: text });
    await scheduler.caughtUp();
    const sent = (): (string | undefined)[] => scheduler.ofType('utterance').map((each) => each.request_id);
    expect(sent()).toEqual(['one', 'two']);
    for (const [index, request_id] of ['one', 'two'].entries())
      scheduler.send({ type: 'utterance_accepted', utterance_index: index, job_id: 'job', request_id });
    await scheduler.caughtUp();
    clock.advance(20_000);
    expect(sent()).toEqual(['one', 'two']);
    scheduler.send(result(0));
    await scheduler.caughtUp();
    expect(sent()).toEqual(['one', 'two', 'three']);
    // The scheduler never reports on it: it must not block the others for ever.
    clock.advance(5_000);
    await scheduler.caughtUp();
    expect(sent()).toEqual(['one', 'two', 'three', 'four']);
  });
});

it('playback is reported while there is a connection', async () => {
  const { scheduler, session, clock } = await startSession();
  expect(session.playbackStarted('group-1', 'trace-1')).toBe(true);
  clock.advance(10);
  expect(session.playbackEnded('group-1', 'trace-1')).toBe(true);
  await scheduler.caughtUp();
  const playback = { session_id: 's-1', trace_id: 'trace-1', group_id: 'group-1' };
  expect(scheduler.received.slice(1)).toEqual([
    { type: 'tts_started', ...playback, ts_start_ms: clock.now() - 10 },
    { type: 'tts_play_ended', ...playback, ts_end_ms: clock.now() },
  ]);
  scheduler.cut();
  await scheduler.stop();
  await expect.poll(() => session.state).toBe('reconnecting');
  expect(session.playbackStarted('group-1', 'trace-1')).toBe(false);
});
