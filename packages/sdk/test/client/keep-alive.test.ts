/** Heartbeats, dead connections, and instances that shut down. */
import { describe, expect, it } from 'vitest';
import { until } from './support/scripted-scheduler.ts';
import { bytes, result, startSession } from './support/start-session.ts';

describe('client heartbeat', () => {
  it('a heartbeat is sent every 25 seconds', async () => {
    const { scheduler, clock } = await startSession();
    const answers = async (): Promise<number> => {
      scheduler.send({ type: 'server_heartbeat', session_id: 's-1', timestamp: 1 });
      await scheduler.caughtUp();
      return scheduler.ofType('client_heartbeat').length;
    };
    clock.advance(24_999);
    expect(await answers()).toBe(0);
    clock.advance(1);
    expect(await answers()).toBe(1);
    expect(scheduler.ofType('client_heartbeat')).toEqual([
      { type: 'client_heartbeat', session_id: 's-1', timestamp: clock.now() },
    ]);
    clock.advance(25_000);
    expect(await answers()).toBe(2);
  });

  it('an idle connection stays open while heartbeats are answered', async () => {
    const { scheduler, clock, of } = await startSession(
      {},
      {
        onMessage(message, reply) {
          if (message.type === 'client_heartbeat')
            reply({ type: 'server_heartbeat', session_id: message.session_id, timestamp: 1 });
        },
      },
    );
    for (let passed = 0; passed < 300_000; passed += 5_000) {
      clock.advance(5_000);
      await scheduler.caughtUp();
    }
    expect(of('disconnected')).toEqual([]);
  });
});

describe('connection without messages for a minute', () => {
  it('a silent connection is closed, and the session is resumed', async () => {
    const { scheduler, session, clock, of } = await startSession();
    session.sendAudio(bytes('one'));
    await scheduler.caughtUp();
    scheduler.freeze();
    clock.advance(59_999);
    expect(session.state).toBe('open');
    clock.advance(1);
    await until(() => of('open').length === 2);
    await scheduler.caughtUp();
    expect(of('disconnected')).toMatchObject([{ code: 4000, reason: 'the scheduler is silent' }]);
    expect(of('open').at(-1)).toEqual({ type: 'open', sessionId: 's-1', resumed: true });
    expect(scheduler.chunksHere()).toEqual(['1one']);
  });

  it('late messages of a closed connection are ignored', async () => {
    const { scheduler, clock, of } = await startSession();
    scheduler.send(result(0));
    clock.advance(60_000);
    await until(() => of('open').length === 2);
    await scheduler.caughtUp();
    // The result was not acknowledged, so a scheduler sends it again on the new connection.
    expect(of('result')).toEqual([]);
  });

  it('any message keeps the connection', async () => {
    const { scheduler, session, clock } = await startSession();
    clock.advance(59_999);
    scheduler.sendText('what is this');
    await scheduler.caughtUp();
    clock.advance(59_999);
    expect(session.state).toBe('open');
  });

  it('after the machine slept, unread answers get another chance', async () => {
    const { scheduler, session, clock } = await startSession();
    clock.sleep(3_600_000);
    expect(session.state).toBe('open');
    await scheduler.caughtUp();
    expect(scheduler.ofType('client_heartbeat').length).toBeGreaterThan(0);
    clock.advance(10_000);
    expect(session.state).toBe('reconnecting');
  });
});

describe('instance that shuts down', () => {
  it('the session moves after the announced delay', async () => {
    const { scheduler, session, clock, of } = await startSession({ chance: () => 0.5 });
    session.sendAudio(bytes('one'));
    scheduler.send({ type: 'server_draining', reconnect_after_ms: 3_000 });
    await scheduler.caughtUp();
    expect(of('draining')).toEqual([{ type: 'draining', reconnectAfterMs: 3_000 }]);
    // Half a second of jitter.
    clock.advance(3_499);
    session.sendAudio(bytes('two'));
    await scheduler.caughtUp();
    expect(scheduler.chunksHere()).toEqual(['1one', '2two']);
    clock.advance(1);
    expect(of('disconnected')).toEqual([{ type: 'disconnected', code: 1012, reason: 'server_draining' }]);
    clock.advance(of('reconnecting')[0]?.delayMs ?? 0);
    await until(() => of('open').length === 2);
    await scheduler.caughtUp();
    expect(of('reconnecting')).toMatchObject([{ attempt: 1, delayMs: 125 }]);
    expect(of('open').at(-1)).toMatchObject({ resumed: true });
    expect(scheduler.chunksHere()).toEqual(['1one', '2two']);
  });

  it('a connection that ends early is not reopened before the delay', async () => {
    const { scheduler, clock, of } = await startSession();
    scheduler.send({ type: 'server_draining', reconnect_after_ms: 3_000 });
    await scheduler.caughtUp();
    clock.advance(1_000);
    scheduler.hangUp(1012);
    await until(() => of('reconnecting').length === 1);
    expect(of('reconnecting')[0]?.delayMs).toBe(2_000);
    clock.advance(2_000);
    await until(() => of('open').length === 2);
    expect(of('disconnected')).toHaveLength(1);
  });

  it('an excessive delay is limited', async () => {
    const { scheduler, session, clock } = await startSession({ timings: { silenceMs: 10_000_000 } });
    scheduler.send({ type: 'server_draining', reconnect_after_ms: Number.MAX_SAFE_INTEGER });
    await scheduler.caughtUp();
    clock.advance(60_000);
    expect(session.state).toBe('reconnecting');
  });
});
