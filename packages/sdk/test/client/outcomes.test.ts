/** Outcomes for the application: delivered once, in order, acknowledged; and the other events. */
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/client/index.ts';
import { neverResumes } from './support/scripted-scheduler.ts';
import { accepted, bytes, missing, result, startSession } from './support/start-session.ts';

describe('outcomes', () => {
  it('a repeated outcome is delivered once', async () => {
    const { scheduler, of, reconnect } = await startSession();
    scheduler.send(result(0));
    scheduler.send(missing(1));
    await scheduler.caughtUp();
    await reconnect();
    scheduler.send(result(0));
    scheduler.send(missing(1));
    scheduler.send(result(2));
    await scheduler.caughtUp();
    expect(of('result').map(({ utteranceIndex }) => utteranceIndex)).toEqual([0, 2]);
    expect(of('missing').map(({ utteranceIndex }) => utteranceIndex)).toEqual([1]);
  });

  it('several outcomes are acknowledged together after a delay', async () => {
    const { scheduler, clock } = await startSession();
    for (const index of [0, 1, 2]) scheduler.send(result(index));
    await scheduler.caughtUp();
    clock.advance(49);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toEqual([]);
    clock.advance(1);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toEqual([
      { type: 'result_ack', session_id: 's-1', delivery_seq: 3 },
    ]);
    clock.advance(1_000);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toHaveLength(1);
  });

  it('outcomes are acknowledged again after a resume or a repeat', async () => {
    const { scheduler, clock, reconnect } = await startSession();
    scheduler.send(result(0));
    await scheduler.caughtUp();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toHaveLength(1);
    await reconnect();
    expect(scheduler.ofType('result_ack')).toMatchObject([{ delivery_seq: 1 }]);
    scheduler.send(result(0));
    await scheduler.caughtUp();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toHaveLength(2);
  });

  it('outcomes of the previous session are not acknowledged in a new one', async () => {
    const { scheduler, clock, of, reconnect } = await startSession({}, { answer: neverResumes });
    scheduler.send(result(4));
    await scheduler.caughtUp();
    await reconnect();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toEqual([]);
    scheduler.send(result(0, { delivery_seq: 0 }));
    await scheduler.caughtUp();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(scheduler.ofType('result_ack')).toEqual([
      { type: 'result_ack', session_id: 's-2', delivery_seq: 0 },
    ]);
    expect(of('result')).toHaveLength(2);
  });

  it('outcomes without a number are delivered, not acknowledged', async () => {
    const { scheduler, clock, of } = await startSession();
    const { delivery_seq: _, ...plain } = result(0);
    scheduler.send(plain);
    await scheduler.caughtUp();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(of('result')).toHaveLength(1);
    expect(scheduler.ofType('result_ack')).toEqual([]);
  });

  it('an outcome before its acceptance settles the utterance', async () => {
    const { scheduler, session } = await startSession();
    session.sendAudio(bytes('one'));
    await scheduler.caughtUp();
    scheduler.send(result(0));
    await scheduler.caughtUp();
    expect(session.unsettledBytes).toBe(3);
    scheduler.send(accepted(0, 1, 1));
    await session.settled();
    expect(session.unsettledBytes).toBe(0);
  });

  it('a result has all fields that an application needs', async () => {
    const { scheduler, session, of } = await startSession();
    session.sendAudio(bytes('one'));
    const requestId = session.endUtterance();
    await scheduler.caughtUp();
    scheduler.send(accepted(0, 1, 2));
    const message = result(0, {
      tts_audio: Buffer.from('spoken').toString('base64'),
      tts_format: 'opus',
      group_id: 'group-1',
      quality_score: 0.5,
    });
    scheduler.send(message);
    await scheduler.caughtUp();
    expect(of('result')).toEqual([
      {
        type: 'result',
        utteranceIndex: 0,
        requestId,
        textAsr: 'heard 0',
        textTranslated: 'said 0',
        ttsAudio: bytes('spoken'),
        ttsFormat: 'opus',
        groupId: 'group-1',
        traceId: 'trace-1',
        message,
      },
    ]);
  });
});

describe('before the outcome', () => {
  it('partial texts and progress carry the request id', async () => {
    const { scheduler, session, of } = await startSession();
    session.sendAudio(bytes('one'));
    const requestId = session.endUtterance();
    await scheduler.caughtUp();
    scheduler.send(accepted(0, 1, 2));
    const shared = { session_id: 's-1', utterance_index: 0, job_id: 'job-0', trace_id: 'trace-1' };
    scheduler.send({ type: 'asr_partial', ...shared, text: 'hel', is_final: false });
    scheduler.send({
      type: 'ui_event',
      ...shared,
      event: 'ERROR',
      status: 'error',
      error_code: 'JOB_TIMEOUT',
      hint: 'speak again',
    });
    await scheduler.caughtUp();
    expect(of('partial')).toMatchObject([{ utteranceIndex: 0, requestId, text: 'hel', isFinal: false }]);
    expect(of('uiEvent')).toMatchObject([
      {
        utteranceIndex: 0,
        requestId,
        event: 'ERROR',
        isError: true,
        errorCode: 'JOB_TIMEOUT',
        hint: 'speak again',
      },
    ]);
  });

  it('errors are delivered and end nothing', async () => {
    const { scheduler, session, of } = await startSession();
    scheduler.send({ type: 'error', code: 'UNAUTHORIZED', message: 'try later', details: { why: 1 } });
    await scheduler.caughtUp();
    expect(of('error')).toEqual([
      { type: 'error', code: 'UNAUTHORIZED', message: 'try later', details: { why: 1 }, isFatal: false },
    ]);
    expect(session.state).toBe('open');
  });
});

describe('listeners', () => {
  it('a throwing listener affects no other', async () => {
    const faults: [unknown, SessionEvent | undefined][] = [];
    const { scheduler, session, clock, of } = await startSession({
      onListenerError(error, event) {
        faults.push([error, event]);
        throw new Error('this too');
      },
    });
    const received: string[] = [];
    session.on('result', () => {
      throw new Error('at once');
    });
    session.on('result', () => Promise.reject(new Error('later')) as never);
    session.on('result', ({ textTranslated }) => received.push(textTranslated));
    scheduler.send(result(0));
    await scheduler.caughtUp();
    clock.advance(50);
    await scheduler.caughtUp();
    expect(received).toEqual(['said 0']);
    expect(faults.map(([error, event]) => [String(error), event?.type])).toEqual([
      ['Error: at once', 'result'],
      ['Error: later', 'result'],
    ]);
    expect(scheduler.ofType('result_ack')).toHaveLength(1);
    expect(of('result')).toHaveLength(1);
  });

  it('a removed listener is not called, also during an event', async () => {
    const { scheduler, session } = await startSession();
    const received: string[] = [];
    const listener = ({ textAsr }: SessionEvent<'result'>): void => {
      received.push(textAsr);
    };
    session.on('result', listener);
    const stop = session.on('result', listener);
    const stopOnce = session.on('result', () => stopOnce());
    scheduler.send(result(0));
    await scheduler.caughtUp();
    stop();
    stop();
    scheduler.send(result(1));
    await scheduler.caughtUp();
    expect(received).toEqual(['heard 0', 'heard 0', 'heard 1']);
  });
});
