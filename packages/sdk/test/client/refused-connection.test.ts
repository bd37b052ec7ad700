/** Why a connection could not be opened: a wrong token, a wrong path, an unreachable or busy server. */
import { describe, expect, it } from 'vitest';
import { ackOf, until } from './support/scripted-scheduler.ts';
import { beginSession, bytes } from './support/start-session.ts';

const REFUSED = {
  role: 'session',
  is_admitted: false,
  code: 'UNAUTHORIZED',
  message: 'unknown token',
  hint: 'Send a token',
};

describe('a refused connection', () => {
  it('a wrong token is one fatal UNAUTHORIZED error, and nothing is retried', async () => {
    const { scheduler, session, of, clock } = await beginSession(
      { token: 'wrong one' },
      { refuseUpgrade: () => 401, answerCheck: () => ({ status: 200, body: REFUSED }) },
    );
    session.sendAudio(bytes('kept'));
    await session.settled();
    expect(of('error')).toEqual([
      {
        type: 'error',
        code: 'UNAUTHORIZED',
        message: 'unknown token',
        details: { hint: 'Send a token' },
        isFatal: true,
      },
    ]);
    expect(session.state).toBe('failed');
    expect(of('disconnected')).toEqual([]);
    expect(scheduler.checks).toEqual(['/v1/check?role=session&token=wrong+one']);
    expect(clock.waiting()).toEqual([]);
  });

  it('a token function is called before every connect, and a failure is retried', async () => {
    let calls = 0;
    const token = async (): Promise<string> => {
      calls += 1;
      if (calls === 1) throw new Error('the shop is closed');
      return `fresh-${calls}`;
    };
    const { session, of, clock, scheduler } = await beginSession(
      { token },
      { answer: () => ackOf('s-1'), refuseUpgrade: () => undefined },
    );
    await until(() => of('reconnecting').length === 1);
    expect(of('disconnected')).toMatchObject([
      { reason: expect.stringContaining('there is no token: Error: the shop is closed') },
    ]);
    clock.advance(of('reconnecting')[0]?.delayMs ?? 0);
    await until(() => session.state === 'open');
    scheduler.cut();
    await until(() => of('reconnecting').length === 2);
    clock.advance(of('reconnecting')[1]?.delayMs ?? 0);
    await until(() => of('open').length === 2);
    expect(calls).toBe(3);
  });

  it('a wrong path is a fatal error: not a Lingua scheduler', async () => {
    const { scheduler, session, of } = await beginSession(
      {},
      { refuseUpgrade: () => 404, answerCheck: () => ({ status: 404, body: { error: 'NOT_FOUND' } }) },
    );
    await until(() => session.state === 'failed');
    expect(of('error')).toMatchObject([
      { code: 'NOT_FOUND', message: expect.stringContaining('is not a Lingua scheduler'), isFatal: true },
    ]);
    expect(scheduler.checks).toEqual(['/v1/check?role=session']);
  });

  it.each([
    ['a scheduler that admits the token but not now', 200, { is_admitted: true }, /refuses the connection/],
    ['a proxy without its scheduler', 502, {}, /answers 502/],
  ])('%s is a loss with the reason, and retried', async (_, status, body, reason) => {
    let isUp = false;
    const { session, of, clock } = await beginSession(
      {},
      {
        refuseUpgrade: () => (isUp ? undefined : 503),
        answerCheck: () => ({ status, body }),
        answer: () => ackOf('s-1'),
      },
    );
    await until(() => of('reconnecting').length === 1);
    expect(of('disconnected')).toMatchObject([{ reason: expect.stringMatching(reason) }]);
    isUp = true;
    clock.advance(of('reconnecting')[0]?.delayMs ?? 0);
    await until(() => session.state === 'open');
    expect(of('error')).toEqual([]);
  });

  it('an unreachable server is a loss with the reason, and retried', async () => {
    const { of } = await beginSession({ url: 'ws://127.0.0.1:1/ws/session' });
    await until(() => of('reconnecting').length === 1);
    expect(of('disconnected')).toMatchObject([{ reason: 'http://127.0.0.1:1 cannot be reached' }]);
    expect(of('error')).toEqual([]);
  });

  it('a server that does not answer the check is a loss after 1.5 s', async () => {
    let isAsked = false;
    const { of, clock } = await beginSession(
      {
        fetch: (_, { signal }) => {
          isAsked = true;
          return new Promise((__, reject) => {
            if (signal.aborted) reject(new Error('aborted'));
            signal.addEventListener('abort', () => reject(new Error('aborted')));
          });
        },
      },
      { refuseUpgrade: () => 401 },
    );
    await until(() => isAsked);
    clock.advance(1_499);
    expect(of('disconnected')).toEqual([]);
    clock.advance(1);
    await until(() => of('disconnected').length === 1);
  });

  it('a session that was open outlives a path that is wrong for a while', async () => {
    let isGone = false;
    const { scheduler, session, of, clock } = await beginSession(
      {},
      {
        refuseUpgrade: () => (isGone ? 404 : undefined),
        answerCheck: () => ({ status: 404, body: {} }),
      },
    );
    await until(() => session.state === 'open');
    isGone = true;
    scheduler.cut();
    await until(() => of('reconnecting').length === 1);
    clock.advance(0);
    await until(() => of('reconnecting').length === 2);
    isGone = false;
    clock.advance(0);
    await until(() => session.state === 'open');
    expect(of('disconnected')[1]?.reason).toContain('is not a Lingua scheduler');
    expect(of('error')).toEqual([]);
  });
});
