/** Audio that the scheduler refuses for good: one `missing` event with the reason, and nothing stays in the buffer. */
import { describe, expect, it } from 'vitest';
import { until } from './support/scripted-scheduler.ts';
import { accepted, bytes, result, startSession } from './support/start-session.ts';

const refusal = (details: Record<string, unknown>) =>
  ({
    type: 'error',
    code: 'INVALID_MESSAGE',
    message: '"sample_rate" must be at least 1000',
    details,
  }) as const;

describe('a refused utterance', () => {
  it('a refused utterance is missing with the reason, and settled() resolves', async () => {
    const { scheduler, session, of } = await startSession();
    const requestId = session.sendUtterance(bytes('one')) ?? '';
    await scheduler.caughtUp();
    const settled = session.settled();
    scheduler.send(refusal({ path: '/sample_rate', request_id: requestId }));
    await settled;
    expect(of('error')).toHaveLength(1);
    expect(of('missing')).toMatchObject([
      {
        utteranceIndex: undefined,
        requestId,
        reason: 'refused',
        error: { code: 'INVALID_MESSAGE', message: '"sample_rate" must be at least 1000' },
      },
    ]);
    expect(session.unsettledBytes).toBe(0);
  });

  it('an utterance whose request id is invalid is named by the index that the client gave it', async () => {
    const { scheduler, session, of } = await startSession();
    session.sendUtterance(bytes('one'));
    session.sendUtterance(bytes('two'));
    await until(() => scheduler.ofType('utterance').length === 2);
    scheduler.send(refusal({ path: '/request_id', utterance_index: 1 }));
    await scheduler.caughtUp();
    expect(of('missing')).toMatchObject([{ requestId: scheduler.ofType('utterance')[1]?.request_id }]);
    expect(session.unsettledBytes).toBe(3);
  });

  it('refused utterances leave space for as many as ever', async () => {
    const { scheduler, session, of } = await startSession(
      { limits: { maxKeptBytes: 300 } },
      {
        onMessage: (message, reply) => {
          if (message.type === 'utterance') reply(refusal({ request_id: message.request_id }));
        },
      },
    );
    for (let count = 1; count <= 23; count += 1) {
      expect(session.sendUtterance(new Uint8Array(200))).toBeDefined();
      await session.settled();
    }
    await scheduler.caughtUp();
    expect(of('missing')).toHaveLength(23);
    expect(of('overflow')).toEqual([]);
  });
});

describe('a refused chunk', () => {
  it('a refused run of chunks is dropped; the other chunks of the utterance get their outcome', async () => {
    const { scheduler, session, of } = await startSession();
    for (const text of ['one', 'two', 'three']) {
      session.sendAudio(bytes(text));
      await scheduler.caughtUp();
    }
    const requestId = session.endUtterance();
    await scheduler.caughtUp();
    scheduler.send(refusal({ first_seq: 2, last_seq: 2, request_id: requestId }));
    await scheduler.caughtUp();
    expect(of('missing')).toMatchObject([{ requestId, reason: 'refused' }]);
    expect(session.unsettledBytes).toBe('onethree'.length);
    scheduler.send(accepted(0, 1, 4));
    scheduler.send(result(0));
    await session.settled();
    expect(of('result')).toMatchObject([{ requestId }]);
  });

  it('an empty end is dropped together with the only audio before it', async () => {
    const { scheduler, session } = await startSession();
    session.sendAudio(bytes('one'));
    await scheduler.caughtUp();
    session.endUtterance();
    await scheduler.caughtUp();
    scheduler.send(refusal({ first_seq: 1, last_seq: 1 }));
    await session.settled();
  });
});

it.each([
  ['an error that names nothing', {}],
  ['the error of a job, which has its own outcome', { utterance_index: 0, job_id: 'job-0' }],
  ['an error about audio of another session', { request_id: 'unknown', first_seq: 70, last_seq: 71 }],
])('%s drops no audio', async (_, details) => {
  const { scheduler, session, of } = await startSession();
  session.sendAudio(bytes('one'));
  session.sendUtterance(bytes('two'));
  await scheduler.caughtUp();
  scheduler.send(refusal(details));
  await scheduler.caughtUp();
  expect(of('error')).toHaveLength(1);
  expect(of('missing')).toEqual([]);
  expect(session.unsettledBytes).toBe(6);
});
