/** How a session ends. */
import { expect, it } from 'vitest';
import { until } from './support/scripted-scheduler.ts';
import { accepted, beginSession, bytes, result, startSession } from './support/start-session.ts';

it('ends the utterance, sends what waits, acknowledges, takes leave, and waits for the answer', async () => {
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

it('waits until a pause is over, so that nothing said is lost', async () => {
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
  expect(scheduler.heardHere()).toEqual(['1one!']);
  expect(scheduler.ofType('session_close')).toHaveLength(1);
});

it('does not wait for ever, and says what remained without outcome', async () => {
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

it('comes back for what has no outcome, and takes leave again', async () => {
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
  expect(scheduler.heardHere()).toEqual(['1one', '2!']);
  expect(scheduler.ofType('session_close')).toHaveLength(1);
  scheduler.send({ type: 'session_close_ack', session_id: 's-1' });
  expect(await closed).toMatchObject({ isAcknowledged: true, unsettledBytes: 3 });
});

it('is done when the connection breaks and nothing waits', async () => {
  const { scheduler, session, clock } = await startSession();
  const closed = session.close();
  await until(() => scheduler.ofType('session_close').length === 1);
  scheduler.cut();
  expect(await closed).toMatchObject({ isAcknowledged: false, unsettledBytes: 0 });
  expect(clock.waiting()).toEqual([]);
});

it('is done at once if it never began', async () => {
  const { scheduler, session, clock } = await beginSession({}, { refuseUpgrade: () => 503 });
  expect(await session.close()).toMatchObject({ isAcknowledged: false });
  expect(session.state).toBe('closed');
  expect(clock.waiting()).toEqual([]);
  expect(scheduler.connections()).toBe(0);
});

it('is the same for everyone who asks, and may be asked by a listener', async () => {
  const { scheduler, session, of } = await startSession();
  session.on('disconnected', () => void session.close('by a listener'));
  scheduler.cut();
  await until(() => session.state === 'closed');
  expect(await session.close('again')).toMatchObject({ reason: 'by a listener' });
  expect(of('closed')).toHaveLength(1);
  expect(of('reconnecting')).toEqual([]);
});

it('lets those go who wait for outcomes', async () => {
  const { session, clock } = await startSession();
  session.sendAudio(bytes('one'));
  const settled = session.settled();
  void session.close();
  clock.advance(10_000);
  await settled;
});

it('does not end because the scheduler says so unasked', async () => {
  const { scheduler, session } = await startSession();
  scheduler.send({ type: 'session_close_ack', session_id: 's-1' });
  await scheduler.caughtUp();
  expect(session.state).toBe('open');
});
