/** Invalid frames from the scheduler: a session survives all of them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { accepted, bytes, result, startSession } from './support/start-session.ts';

const TYPES = [
  'session_init_ack',
  'asr_partial',
  'translation_result',
  'missing_result',
  'ui_event',
  'backpressure',
  'server_heartbeat',
  'error',
  'utterance_accepted',
  'room_members',
  'webrtc_offer',
  'made_up',
  '__proto__',
];
const FIELDS = [
  'session_id',
  'utterance_index',
  'job_id',
  'request_id',
  'first_seq',
  'last_seq',
  'delivery_seq',
  'action',
  'resume_after_ms',
  'code',
  'message',
  'text',
  'text_asr',
  'tts_audio',
  'reason',
  'event',
  'resumed',
];
const NASTY = [null, -1, 1.5, 1e300, '', '\u0000', 'PAUSE', 'not base64 *', [], {}, true, 2 ** 53];

it('invalid frames are ignored', async () => {
  const { scheduler, session, of } = await startSession();
  session.sendAudio(bytes('one'));
  for (const text of [
    '',
    'x',
    '{',
    'null',
    '7',
    '"error"',
    '[]',
    '{}',
    '{"type":7}',
    '{"type":null}',
    '[{"type":"error"}]',
  ])
    scheduler.sendText(text);
  scheduler.sendBinary(new TextEncoder().encode(JSON.stringify(result(0))));
  await scheduler.caughtUp();
  expect(of('error')).toEqual([]);
  expect(of('result')).toEqual([]);
  scheduler.send(accepted(0, 1, 1));
  scheduler.send(result(0));
  await session.settled();
  expect(of('result')).toHaveLength(1);
});

it('fields of the wrong type count as absent', async () => {
  const { scheduler, of } = await startSession();
  const odd = { text_asr: 7, text_translated: null, tts_audio: '***', tts_format: {}, group_id: null };
  scheduler.sendText(JSON.stringify({ ...result(0), ...odd, delivery_seq: 'x' }));
  scheduler.sendText(JSON.stringify({ type: 'error' }));
  scheduler.sendText(JSON.stringify({ type: 'missing_result', utterance_index: 1 }));
  scheduler.sendText(JSON.stringify({ type: 'backpressure', action: 'STOP' }));
  await scheduler.caughtUp();
  expect(of('result')).toMatchObject([
    {
      textAsr: '',
      textTranslated: '',
      ttsAudio: new Uint8Array(0),
      ttsFormat: '',
      detectedLanguage: undefined,
      groupId: undefined,
    },
  ]);
  expect(of('error')).toMatchObject([{ code: 'INTERNAL_ERROR', message: '' }]);
  expect(of('missing')).toMatchObject([{ reason: 'job_failed' }]);
  expect(of('backpressure')).toEqual([]);
});

it('an acceptance of unsent audio is ignored', async () => {
  const { scheduler, session, clock } = await startSession();
  scheduler.send({ type: 'backpressure', action: 'PAUSE', resume_after_ms: 100 });
  await scheduler.caughtUp();
  session.sendAudio(bytes('one'));
  scheduler.send(accepted(0, 0, Number.MAX_SAFE_INTEGER));
  scheduler.send(result(0));
  await scheduler.caughtUp();
  expect(session.unsettledBytes).toBe(3);
  clock.advance(100);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere()).toEqual(['1one']);
});

it('a second session_init_ack is ignored', async () => {
  const { scheduler, session, of } = await startSession();
  scheduler.sendText(
    JSON.stringify({ type: 'session_init_ack', session_id: 's-other', resume_token: 'stolen' }),
  );
  await scheduler.caughtUp();
  expect(session.sessionId).toBe('s-1');
  expect(of('open')).toHaveLength(1);
});

it('an acknowledgement without a session id does not open the session', async () => {
  const { scheduler, session } = await startSession();
  expect(session.state).toBe('open');
  scheduler.sendText(JSON.stringify({ type: 'session_close_ack' }));
  await scheduler.caughtUp();
  expect(session.state).toBe('open');
});

it('after any message the session still sends audio', async () => {
  const { scheduler, session, clock } = await startSession();
  const value = fc.oneof(fc.constantFrom(...NASTY), fc.jsonValue({ maxDepth: 2 }));
  const frame = fc
    .tuple(fc.constantFrom(...TYPES), fc.dictionary(fc.constantFrom(...FIELDS), value))
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 50, size: 'max' }), async (frames) => {
      for (const text of frames) scheduler.sendText(text);
      await scheduler.caughtUp();
      expect(session.state).toBe('open');
    }),
    { numRuns: 100 },
  );
  const before = scheduler.chunksHere().length;
  session.sendAudio(bytes('still here'));
  clock.advance(59_000);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere().slice(before)).toEqual(['1still here']);
  expect(scheduler.refused).toEqual([]);
});
