import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  chunk,
  openSession,
  proofOf,
  resume,
  sessionUrl,
  spoken,
  utterance,
} from './support/session-client.ts';
import { audioOf, startHeld } from './support/session-held.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

describe('a session whose socket is cut', () => {
  it('an utterance continues after a cut socket without duplicate audio', async () => {
    const { each, url, session, gone } = await startHeld();
    for (const seq of [1, 2]) session.send(chunk(session, seq, { request_id: 'req-1' }));
    await session.handled();
    session.cut();
    await gone();
    const again = await resume(url, session);
    expect(again.frames[0]).toMatchObject({ session_id: session.sessionId(), resumed: true });
    for (const seq of [1, 2, 3]) again.send(chunk(again, seq, { request_id: 'req-1', is_final: seq === 3 }));
    const job = await each.job();
    expect(audioOf(job)).toEqual([1, 2, 3]);
    expect(Buffer.from(job.audio, 'base64')).toHaveLength(3 * 64);
    each.finish(1);
    expect(await again.outcome()).toMatchObject({ utterance_index: 0, delivery_seq: 1 });
    expect(each.begun).toHaveLength(1);
  });

  it('a cut socket does not count as a pause', async () => {
    const { app, each, url, session, gone } = await startHeld({
      // Longer than a busy machine takes to cut the connection after a chunk.
      'scheduler.web_task_segmentation.pause_ms': 2_000,
      'scheduler.session_resume_ttl_ms': 60_000,
    });
    session.send(chunk(session, 1, { request_id: 'req-1' }));
    session.send({ type: 'client_heartbeat', session_id: session.sessionId(), timestamp: 1 });
    await session.next('server_heartbeat');
    session.cut();
    await gone();
    // Another session's pause ends meanwhile.
    const other = await openSession({ url });
    other.send(chunk(other, 9));
    expect(audioOf(await each.job(1))).toEqual([9]);
    const again = await resume(url, session);
    again.send(chunk(again, 2, { request_id: 'req-1', is_final: true }));
    expect(audioOf(await each.job(2))).toEqual([1, 2]);
    expect(await figure(app, 'scheduler_web_task_finalized_total{reason="pause"}')).toBe(1);
  });

  it('a missed acceptance is sent after the resume', async () => {
    const { each, url, session, gone } = await startHeld();
    session.ws.pause();
    session.send(spoken(session, 1, 'req-1'));
    await each.job();
    session.cut();
    await gone();
    const again = await resume(url, session);
    again.send(spoken(again, 1, 'req-1'));
    await again.handled();
    expect(again.of('utterance_accepted')).toMatchObject([
      { utterance_index: 0, request_id: 'req-1', first_seq: 1, last_seq: 1 },
    ]);
    each.finish(1);
    expect(await again.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(each.begun).toHaveLength(1);
  });

  it('the acceptance is sent before the outcome after a resume', async () => {
    const { app, each, url, session, gone } = await startHeld();
    session.ws.pause();
    session.send(spoken(session, 1));
    await each.job();
    session.cut();
    await gone();
    each.finish(1);
    await eventually(async () => (await figure(app, 'scheduler_utterances_running')) === 0);
    const again = await resume(url, session);
    await again.outcome();
    expect(again.frames.map(({ type }) => type)).toEqual([
      'session_init_ack',
      'utterance_accepted',
      'translation_result',
    ]);
  });

  it('jobs and numbering continue while the socket is cut', async () => {
    const { app, each, url, session, gone } = await startHeld();
    session.send(spoken(session, 1));
    await session.next('utterance_accepted');
    session.cut();
    await gone();
    each.finish(1);
    await eventually(async () => (await figure(app, 'scheduler_utterances_running')) === 0);
    expect(each.cancelled).toEqual([]);
    const again = await resume(url, session);
    expect(await again.outcome()).toMatchObject({ utterance_index: 0, delivery_seq: 1 });
    again.send(spoken(again, 2));
    await each.job(2);
    each.finish(2);
    expect(await again.outcome(2)).toMatchObject({ utterance_index: 1, delivery_seq: 2 });
  });

  it('an unacknowledged result is sent again with the same number', async () => {
    const { each, url, session } = await startHeld();
    session.send(spoken(session, 1));
    await each.job();
    each.finish(1);
    const first = await session.outcome();
    session.cut();
    const again = await resume(url, session);
    expect(await again.outcome()).toMatchObject({ delivery_seq: 1, job_id: first.job_id });
    again.send({ type: 'result_ack', session_id: again.sessionId(), delivery_seq: 1 });
    await again.handled();
    again.cut();
    const third = await resume(url, session);
    await third.handled();
    expect(third.outcomes()).toEqual([]);
  });

  it('missed results are sent once and in order', async () => {
    const { each, url, session, gone } = await startHeld();
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    await each.job(3);
    session.cut();
    await gone();
    each.finish(3);
    each.finish(1);
    const again = await resume(url, session);
    expect(await again.outcome()).toMatchObject({ utterance_index: 0 });
    each.finish(2);
    await again.outcome(3);
    expect(again.outcomes().map(({ delivery_seq: seq }) => seq)).toEqual([1, 2, 3]);
    await again.handled();
    expect(again.outcomes()).toHaveLength(3);
  });

  it('a new socket replaces the old one, which is closed', async () => {
    const { each, url, session } = await startHeld();
    session.send(spoken(session, 1));
    await each.job();
    const again = await resume(url, session);
    expect((await session.closed).code).toBe(4_000);
    each.finish(1);
    expect((await again.outcome()).type).toBe('translation_result');
    expect(session.outcomes()).toEqual([]);
  });

  it('a repeated request gets the missed outcome', async () => {
    const { each, url, session, gone } = await startHeld();
    const said = utterance(session, 0, { request_id: 'req-whole' });
    session.send(said);
    await each.job();
    session.cut();
    await gone();
    each.finish(1);
    const again = await resume(url, session);
    again.send(said);
    await again.outcome();
    await again.handled();
    expect([each.begun.length, again.outcomes().length]).toEqual([1, 1]);
  });
});

describe('a session that cannot be resumed', () => {
  it('a resume after the expiry opens a new session', async () => {
    const { app, each, url, session } = await startHeld({ 'scheduler.session_resume_ttl_ms': 50 });
    session.send(spoken(session, 1));
    const { job_id } = await each.job();
    session.cut();
    await eventually(() => each.cancelled.length > 0);
    expect(each.cancelled).toEqual([job_id]);
    await eventually(async () => (await app.nodes())[0]?.used_slots === 0);
    const again = await resume(url, session);
    expect(again.sessionId()).not.toBe(session.sessionId());
    expect(again.frames[0]).not.toHaveProperty('resumed');
    again.send(spoken(again, 1));
    await each.job(2);
    each.finish(2);
    expect(await again.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(await figure(app, 'scheduler_sessions_ended_total{reason="expired"}')).toBe(1);
  });

  it.each([
    ['the token is wrong', { resume_token: 'wrong' }],
    ['the token is missing', { resume_token: null }],
    ['its id is unknown', { resume_session_id: 's-nobody' }],
  ])('a resume opens a new session if %s', async (_, fields) => {
    const { each, url, session } = await startHeld();
    session.send(spoken(session, 1));
    await each.job();
    const stranger = await resume(url, session, fields);
    expect(stranger.sessionId()).not.toBe(session.sessionId());
    expect(stranger.frames[0]).not.toHaveProperty('resumed');
    each.finish(1);
    expect((await session.outcome()).type).toBe('translation_result');
    await stranger.handled();
    expect(stranger.outcomes()).toEqual([]);
  });

  it('a resume by another tenant opens a new session', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    const url = sessionUrl(app);
    const acme = await openSession({ url, token: TOKENS.client });
    const globex = await openSession({ url, token: TOKENS.otherClient }, proofOf(acme));
    expect(globex.sessionId()).not.toBe(acme.sessionId());
    const rotated = await openSession({ url, token: TOKENS.rotated }, proofOf(acme));
    expect(rotated.frames[0]).toMatchObject({ session_id: acme.sessionId(), resumed: true });
  });

  it('a resume of a closing session opens a new one', async () => {
    const { each, url, session } = await startHeld();
    session.send(spoken(session, 1));
    await each.job();
    session.send({ type: 'session_close', session_id: session.sessionId(), reason: 'bye' });
    await session.handled();
    const again = await resume(url, session);
    expect(again.sessionId()).not.toBe(session.sessionId());
    each.finish(1);
    await session.next('session_close_ack');
  });

  it('without resuming there is no resume token', async () => {
    const { session } = await startHeld({ 'scheduler.session_resume_ttl_ms': 0 });
    expect(session.frames[0]).not.toHaveProperty('resume_token');
  });
});
