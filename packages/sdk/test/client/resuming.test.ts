/** What is sent again after a loss, in a resumed session and in a new one. */
import { describe, expect, it } from 'vitest';
import { neverResumes, until } from './support/scripted-scheduler.ts';
import { accepted, bytes, missing, result, startSession } from './support/start-session.ts';

describe('resumed session', () => {
  it('session_init has the session id and its resume token', async () => {
    const { scheduler, session, of, reconnect } = await startSession();
    await reconnect();
    expect(scheduler.ofType('session_init')[0]).toMatchObject({
      resume_session_id: 's-1',
      resume_token: 'token-of-s-1',
      src_lang: 'en',
    });
    expect(of('open')).toEqual([
      { type: 'open', sessionId: 's-1', resumed: false },
      { type: 'open', sessionId: 's-1', resumed: true },
    ]);
    expect(session.state).toBe('open');
  });

  it('unaccepted audio is resent unchanged, then sending continues', async () => {
    const { scheduler, session, reconnect } = await startSession();
    for (const text of ['one', 'two', 'three']) session.sendAudio(bytes(text));
    scheduler.send(accepted(0, 1, 2));
    await scheduler.caughtUp();
    const before = scheduler.ofType('audio_chunk');
    await reconnect();
    expect(scheduler.chunksHere()).toEqual(['3three']);
    expect(scheduler.ofType('audio_chunk')).toEqual(before.slice(2));
    session.sendAudio(bytes('four'));
    const requestId = session.endUtterance();
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['3three', '4four', '5!']);
    expect(new Set(scheduler.ofType('audio_chunk').map((chunk) => chunk.request_id))).toEqual(
      new Set([requestId]),
    );
  });

  it('audio of the offline time is joined into few messages', async () => {
    const { scheduler, session, clock, of } = await startSession();
    session.sendAudio(bytes('one'));
    await scheduler.caughtUp();
    scheduler.cut();
    await until(() => session.state === 'reconnecting');
    for (const text of ['two', 'three']) session.sendAudio(bytes(text));
    session.endUtterance();
    session.sendAudio(bytes('four'));
    clock.advance(0);
    await until(() => of('open').length === 2);
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['1one', '3twothree!', '4four']);
  });

  it('audio that turns out to be accepted is not repeated', async () => {
    const { scheduler, session, reconnect } = await startSession();
    session.sendAudio(bytes('one'));
    await reconnect();
    scheduler.send({ type: 'backpressure', action: 'PAUSE', resume_after_ms: 1_000 });
    scheduler.send(accepted(0, 1, 1));
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.chunksHere()).toEqual([]);
    scheduler.send(result(0));
    await session.settled();
  });

  it('a whole utterance is resent under its id and index until accepted', async () => {
    const { scheduler, session, reconnect } = await startSession();
    const requestId = session.sendUtterance(bytes('one')) ?? '';
    await scheduler.caughtUp();
    const before = scheduler.ofType('utterance');
    await reconnect();
    expect(scheduler.ofType('utterance')).toEqual(before);
    scheduler.send({
      type: 'utterance_accepted',
      utterance_index: 3,
      job_id: 'job-3',
      request_id: requestId,
    });
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.ofType('utterance')).toEqual([]);
  });

  it('everything without an outcome is resent to another instance', async () => {
    const { scheduler, session, reconnect } = await startSession(
      {},
      {
        answer: (init, count) => ({
          ...neverResumes(init, 1),
          ...(count > 1 && { resumed: true, moved: true }),
        }),
      },
    );
    for (const text of ['one', 'two', 'three']) session.sendAudio(bytes(text));
    session.sendUtterance(bytes('whole'), { requestId: 'whole' });
    for (const index of [0, 1]) scheduler.send(accepted(index, index + 1, index + 1));
    scheduler.send({ type: 'utterance_accepted', utterance_index: 2, job_id: 'job', request_id: 'whole' });
    scheduler.send(result(0));
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.chunksHere()).toEqual(['2two', '3three']);
    expect(scheduler.ofType('utterance')).toMatchObject([{ request_id: 'whole', utterance_index: 0 }]);
  });

  it('the token stays valid if no new one is sent', async () => {
    const { scheduler, reconnect } = await startSession(
      {},
      {
        answer(init, count) {
          const { resume_token: token, ...rest } = neverResumes(init, 1);
          return count === 1 ? { ...rest, resume_token: token ?? '' } : { ...rest, resumed: true };
        },
      },
    );
    for (let times = 0; times < 2; times += 1) {
      await reconnect();
      expect(scheduler.ofType('session_init')[0]).toMatchObject({ resume_token: 'token-of-s-1' });
    }
  });

  it('a different session id counts as a new session', async () => {
    const { of, reconnect } = await startSession(
      {},
      { answer: (init, count) => ({ ...neverResumes(init, count), resumed: true }) },
    );
    await reconnect();
    expect(of('open').at(-1)).toEqual({ type: 'open', sessionId: 's-2', resumed: false });
  });
});

describe('session that is not resumed', () => {
  it('everything without an outcome is resent with the same cuts and ids', async () => {
    const { scheduler, session, reconnect } = await startSession({}, { answer: neverResumes });
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) session.sendAudio(bytes(text));
    const requestId = session.endUtterance();
    session.sendAudio(bytes('g'));
    // The scheduler detected pauses after b and d; the first utterance is done.
    scheduler.send(accepted(0, 1, 2));
    scheduler.send(accepted(1, 3, 4));
    scheduler.send(result(0));
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.ofType('session_init')[0]).toMatchObject({ resume_session_id: 's-1' });
    expect(scheduler.chunksHere()).toEqual(['3c', '4d!', '5e', '6f', '7!', '8g']);
    expect(scheduler.ofType('audio_chunk').every((chunk) => chunk.session_id === 's-2')).toBe(true);
    expect(scheduler.ofType('audio_chunk').map((chunk) => chunk.request_id === requestId)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('numbering of utterances and results restarts', async () => {
    const { scheduler, session, of, reconnect } = await startSession({}, { answer: neverResumes });
    session.sendAudio(bytes('a'));
    const first = session.endUtterance();
    session.sendAudio(bytes('b'));
    const second = session.endUtterance();
    await scheduler.caughtUp();
    scheduler.send(accepted(0, 1, 2));
    scheduler.send(accepted(1, 3, 4));
    scheduler.send(result(0));
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.chunksHere()).toEqual(['3b!']);
    scheduler.send(accepted(0, 3, 3));
    scheduler.send(missing(0));
    await session.settled();
    expect(of('result')).toMatchObject([{ utteranceIndex: 0, requestId: first }]);
    expect(of('missing')).toMatchObject([{ utteranceIndex: 0, requestId: second, reason: 'job_failed' }]);
  });

  it('whole utterances are renumbered, too', async () => {
    const { scheduler, session, reconnect } = await startSession({}, { answer: neverResumes });
    for (const text of ['one', 'two']) session.sendUtterance(bytes(text), { requestId: text });
    await scheduler.caughtUp();
    scheduler.send({ type: 'utterance_accepted', utterance_index: 8, job_id: 'job', request_id: 'one' });
    scheduler.send({ type: 'utterance_accepted', utterance_index: 9, job_id: 'job', request_id: 'two' });
    scheduler.send(result(8));
    await scheduler.caughtUp();
    await reconnect();
    expect(scheduler.ofType('utterance')).toMatchObject([{ request_id: 'two', utterance_index: 0 }]);
  });

  it.each(['INVALID_SESSION', 'SESSION_CLOSED'])('%s starts a new session', async (code) => {
    const { scheduler, session, events, clock, of } = await startSession();
    session.sendAudio(bytes('a'));
    scheduler.send({ type: 'error', code, message: 'who are you' });
    await until(() => of('reconnecting').length === 1);
    clock.advance(0);
    await until(() => of('open').length === 2);
    await scheduler.caughtUp();
    expect(scheduler.ofType('session_init')[0]).not.toHaveProperty('resume_session_id');
    expect(events.slice(1)).toMatchObject([
      { type: 'error', code, isFatal: false },
      { type: 'disconnected', reason: 'the session is gone' },
      { type: 'reconnecting' },
      { type: 'open', sessionId: 's-2', resumed: false },
    ]);
    expect(scheduler.chunksHere()).toEqual(['1a']);
  });

  it('a session without a resume token is opened again as new', async () => {
    const { scheduler, reconnect } = await startSession(
      {},
      {
        answer(init, count) {
          const { resume_token: _, ...rest } = neverResumes(init, count);
          return rest;
        },
      },
    );
    await reconnect();
    expect(scheduler.ofType('session_init')[0]).not.toHaveProperty('resume_session_id');
  });
});

describe('lost connection', () => {
  it('the loss and each retry are reported', async () => {
    const { scheduler, events, reconnect } = await startSession();
    scheduler.hangUp(1012, 'restart');
    await reconnect();
    expect(events.slice(1)).toEqual([
      { type: 'disconnected', code: 1012, reason: 'restart' },
      { type: 'reconnecting', attempt: 1, delayMs: 0 },
      { type: 'open', sessionId: 's-1', resumed: true },
    ]);
  });

  it('audio that a listener sends on open follows the kept audio', async () => {
    const { scheduler, session, reconnect } = await startSession();
    session.on('open', () => session.sendAudio(bytes('new')));
    session.sendAudio(bytes('old'));
    await reconnect();
    expect(scheduler.chunksHere()).toEqual(['1old', '2new']);
  });

  it('connections that break right after opening slow the retries down', async () => {
    const { scheduler, clock, of } = await startSession({ chance: () => 0.999_999 });
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      scheduler.cut();
      await until(() => of('reconnecting').length === attempt);
      clock.advance(of('reconnecting').at(-1)?.delayMs ?? 0);
      await until(() => of('open').length === attempt + 1);
    }
    clock.advance(5_000);
    scheduler.cut();
    await until(() => of('reconnecting').length === 5);
    expect(of('reconnecting').map(({ delayMs }) => delayMs)).toEqual([249, 499, 999, 1_999, 249]);
  });
});
