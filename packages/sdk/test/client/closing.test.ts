/** Closing a session. */
import { expect, it } from 'vitest';
import { until } from './support/scripted-scheduler.ts';
import { accepted, beginSession, bytes, result, startSession } from './support/start-session.ts';

it('close() ends the utterance, sends everything, and waits for the confirmation', async () => {
  const { scheduler, session, events, of } = await startSession();
  scheduler.send(result(0));
  scheduler.send({ type: 'backpressure', action: 'PAUSE', resume_after_ms: 0 });
  await scheduler.caughtUp();
  session.sendAudio(bytes('last'));
  const closed = session.close('enough');
  expect(session.state).toBe('closing');
  expect(session.sendAudio(bytes('late'))).toBe(false);
  expect(session.sendUtterance(bytes('late'))).toBeUndefined();
  expect(session.endUtterance()).toBeUndefined();
  await until(() => scheduler.ofType('session_close').length === 1);
  expect(scheduler.received.slice(1).map((message) => message.type)).toEqual([
    'audio_chunk',
    'audio_chunk',
    'result_ack',
    'session_close',
  ]);
  expect(scheduler.ofType('session_close')).toEqual([
    { type: 'session_close', session_id: 's-1', reason: 'enough' },
  ]);
  scheduler.send(accepted(1, 1, 2));
  scheduler.send(result(1));
  scheduler.send({ type: 'session_close_ack', session_id: 's-1' });
  expect(await closed).toEqual({ reason: 'enough', isAcknowledged: true, unsettledBytes: 0 });
  expect(session.state).toBe('closed');
  expect(of('result')).toHaveLength(2);
  expect(events.at(-1)).toEqual({
    type: 'closed',
    reason: 'enough',
    isAcknowledged: true,
    unsettledBytes: 0,
  });
  await until(() => scheduler.ofType('result_ack').length === 2);
  expect(scheduler.ofType('result_ack').at(-1)?.delivery_seq).toBe(2);
});

it('close() waits for the end of a pause, so that no audio is lost', async () => {
  const { scheduler, session, clock } = await startSession();
  scheduler.send({ type: 'backpressure', action: 'PAUSE', resume_after_ms: 3_000 });
  await scheduler.caughtUp();
  session.sendAudio(bytes('one'));
  void session.close();
  clock.advance(2_999);
  await scheduler.caughtUp();
  expect(scheduler.ofType('session_close')).toEqual([]);
  clock.advance(1);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere()).toEqual(['1one!']);
  expect(scheduler.ofType('session_close')).toHaveLength(1);
});

it('close() ends at its time limit and reports unsettled audio', async () => {
  const { session, clock, scheduler } = await startSession();
  session.sendAudio(bytes('one'));
  const closed = session.close();
  await scheduler.caughtUp();
  clock.advance(9_999);
  expect(session.state).toBe('closing');
  clock.advance(1);
  expect(await closed).toEqual({ reason: 'done', isAcknowledged: false, unsettledBytes: 3 });
  expect(clock.waiting()).toEqual([]);
});

it('a closing session reconnects for missing outcomes and closes again', async () => {
  const { scheduler, session, clock, of } = await startSession();
  session.sendAudio(bytes('one'));
  const closed = session.close();
  await until(() => scheduler.ofType('session_close').length === 1);
  scheduler.cut();
  await until(() => of('disconnected').length === 1);
  expect(session.state).toBe('closing');
  clock.advance(0);
  await until(() => of('open').length === 2);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere()).toEqual(['1one', '2!']);
  expect(scheduler.ofType('session_close')).toHaveLength(1);
  scheduler.send({ type: 'session_close_ack', session_id: 's-1' });
  expect(await closed).toMatchObject({ isAcknowledged: true, unsettledBytes: 3 });
});

it('close() resolves when the connection breaks and nothing is waiting', async () => {
  const { scheduler, session, clock } = await startSession();
  const closed = session.close();
  await until(() => scheduler.ofType('session_close').length === 1);
  scheduler.cut();
  expect(await closed).toMatchObject({ isAcknowledged: false, unsettledBytes: 0 });
  expect(clock.waiting()).toEqual([]);
});

it('close() resolves immediately if the session never opened', async () => {
  const { scheduler, session, clock } = await beginSession({}, { refuseUpgrade: () => 503 });
  expect(await session.close()).toMatchObject({ isAcknowledged: false });
  expect(session.state).toBe('closed');
  expect(clock.waiting()).toEqual([]);
  expect(scheduler.connections()).toBe(0);
});

it('repeated close() calls share one result, also inside a listener', async () => {
  const { scheduler, session, of } = await startSession();
  session.on('disconnected', () => void session.close('inside a listener'));
  scheduler.cut();
  await until(() => session.state === 'closed');
  expect(await session.close('again')).toMatchObject({ reason: 'inside a listener' });
  expect(of('closed')).toHaveLength(1);
  expect(of('reconnecting')).toEqual([]);
});

it('close() resolves pending settled() calls', async () => {
  const { session, clock } = await startSession();
  session.sendAudio(bytes('one'));
  const settled = session.settled();
  void session.close();
  clock.advance(10_000);
  await settled;
});

it('a session that an operator closes ends and does not reconnect', async () => {
  const { scheduler, session, events, clock } = await startSession();
  scheduler.send({ type: 'session_close_ack', session_id: 's-1' });
  await until(() => session.state === 'closed');
  expect(events.at(-1)).toMatchObject({ type: 'closed', reason: 'closed by the scheduler' });
  expect(clock.waiting()).toEqual([]);
});
