/** Audio that the scheduler refuses for good: one `missing` event with the reason, and nothing stays in the buffer. */
import { describe, expect, it } from 'vitest';
import { ackOf, type Script, type ScriptedScheduler, until } from './support/scripted-scheduler.ts';
import { beginSession, bytes, startSession } from './support/start-session.ts';

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
  it('an utterance with a refused chunk has one answer: missing', async () => {
    const { scheduler, session, of } = await startSession();
    for (const text of ['one', 'two', 'three']) {
      session.sendAudio(bytes(text));
      await scheduler.caughtUp();
    }
    const requestId = session.endUtterance();
    await scheduler.caughtUp();
    // Without the end, which has no audio.
    scheduler.send(refusal({ first_seq: 1, last_seq: 3, request_id: requestId }));
    await session.settled();
    expect(of('missing')).toMatchObject([{ requestId, reason: 'refused' }]);
    expect(session.unsettledBytes).toBe(0);
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

describe('a message above the limit of the scheduler', () => {
  const LIMIT = 32 * 1024;
  const limited: Script = { answer: () => ackOf('s-1', { max_message_bytes: LIMIT }) };
  const lengths = (scheduler: ScriptedScheduler) =>
    scheduler.received.map((message) => Buffer.byteLength(JSON.stringify(message)));

  it('an utterance above the limit is not sent and missing with the limit', async () => {
    const { scheduler, session, of } = await startSession({}, limited);
    const requestId = session.sendUtterance(new Uint8Array(24 * 1024));
    session.sendUtterance(bytes('short'));
    await until(() => scheduler.ofType('utterance').length === 1);
    expect(of('missing')).toMatchObject([
      {
        requestId,
        reason: 'refused',
        error: { code: 'PAYLOAD_TOO_LARGE', details: { max_message_bytes: LIMIT }, isFatal: false },
      },
    ]);
    expect(of('missing')[0]?.error?.message).toMatch(/message of 3[23]\d{3} bytes; .* accepts 32768 /);
    expect(session.unsettledBytes).toBe('short'.length);
  });

  it('the length of an utterance counts as bytes, not as characters', async () => {
    const { scheduler, session, of } = await startSession({}, limited);
    const dialect = 'é'.repeat(100);
    session.sendUtterance(bytes('a'), { dialect });
    await until(() => scheduler.ofType('utterance').length === 1);
    const fields = (lengths(scheduler).at(-1) as number) - 4;
    const fitting = Math.floor((LIMIT - fields) / 4) * 3;
    session.sendUtterance(new Uint8Array(fitting), { dialect });
    session.sendUtterance(new Uint8Array(fitting + 3), { dialect });
    await until(() => scheduler.ofType('utterance').length === 2);
    expect(of('missing')).toHaveLength(1);
    expect(Math.max(...lengths(scheduler))).toBeLessThanOrEqual(LIMIT);
  });

  it('chunks of any length are sent in messages that the scheduler accepts', async () => {
    const { scheduler, session, of } = await beginSession({}, limited);
    const audio = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
    session.sendAudio(audio);
    for (let at = 0; at < audio.length; at += 5_000) session.sendAudio(audio.subarray(at, at + 5_000));
    session.endUtterance();
    await until(() => scheduler.ofType('audio_chunk').at(-1)?.is_final === true);
    const sent = scheduler.ofType('audio_chunk').map(({ payload = '' }) => Buffer.from(payload, 'base64'));
    expect(Buffer.concat(sent).equals(Buffer.concat([audio, audio]))).toBe(true);
    expect(Math.max(...lengths(scheduler))).toBeLessThanOrEqual(LIMIT);
    expect(of('missing')).toEqual([]);
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
