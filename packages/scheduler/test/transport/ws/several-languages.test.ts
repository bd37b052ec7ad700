/** What session_init may ask for with tgt_langs, and the messages of such a session. */
import type { SessionInit } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../src/session/session.ts';
import { joinPlan, newUtterance } from '../../../src/session/speech/new-utterance.ts';
import { readOpening } from '../../../src/transport/ws/read-session-messages.ts';
import { toSessionMessage } from '../../../src/transport/ws/write-session-messages.ts';

const INIT: SessionInit = {
  type: 'session_init',
  client_version: '1',
  platform: 'web',
  src_lang: 'en',
  tgt_lang: 'es',
  supports: ['result_ack'],
};

const read = (more: Partial<SessionInit>) =>
  readOpening({ ...INIT, ...more }, { tenantId: 'default', credential: 'c', traceId: 't' });

describe('tgt_langs', () => {
  it('are folded, each once, and spoken unless voice_langs leave them out', () => {
    expect(read({ tgt_langs: ['zh-CN', 'zh', 'fr'], voice_langs: ['zh-TW'] })).toMatchObject({
      value: {
        speech: {
          targets: [
            { language: 'zh', isVoiceWanted: true },
            { language: 'fr', isVoiceWanted: false },
          ],
        },
      },
    });
    expect(read({ tgt_langs: ['fr'] })).toMatchObject({
      value: { speech: { targets: [{ language: 'fr', isVoiceWanted: true }] } },
    });
    expect(read({})).toMatchObject({ value: { speech: { targets: undefined } } });
  });

  it.each([
    ['/tgt_langs', /result_ack/, { tgt_langs: ['fr'], supports: [] }],
    ['/tgt_langs', /result_ack/, { tgt_langs: ['fr'], supports: undefined }],
    ['/tgt_langs', /at least one/, { tgt_langs: [] }],
    ['/tgt_langs', /not "auto"/, { tgt_langs: ['fr', 'auto'] }],
    ['/voice_langs', /"de"/, { tgt_langs: ['fr'], voice_langs: ['de'] }],
    ['/voice_langs', /needs "tgt_langs"/, { voice_langs: ['de'] }],
    [
      '/mode',
      /one_way/,
      { tgt_langs: ['fr'], mode: 'two_way_auto', src_lang: 'auto', lang_a: 'en', lang_b: 'fr' },
    ],
  ] as [string, RegExp, Partial<SessionInit>][])('refuses %s with the reason %s', (path, message, more) => {
    const refused = read(more);
    expect(refused).toMatchObject({ kind: 'invalid', problem: { path } });
    expect(refused.kind === 'invalid' && refused.problem.message).toMatch(message);
  });
});

describe('outcomes of several languages', () => {
  const received = newUtterance({
    index: 3,
    jobId: 'plan-1',
    traceId: 'trace-1',
    requestId: undefined,
    groupId: 'g-1',
    partIndex: 0,
    firstSeq: 1,
    lastSeq: 2,
    startedAt: 0,
    acceptedAt: 0,
  });
  const [text, voice] = joinPlan({ name: 'n', source: 'en' }, [
    { part: { language: 'es', kind: 'text' }, utterance: received },
    { part: { language: 'es', kind: 'voice' }, utterance: received },
  ]) as [Utterance, Utterance];
  for (const [one, jobId] of [
    [text, 'job-1'],
    [voice, 'job-2'],
  ] as const)
    if (one.rendition !== undefined) one.rendition.jobId = jobId;
  const result = { textAsr: 'hi', textTranslated: 'hola', ttsAudio: 'AAAA', ttsFormat: 'pcm16' };
  const write = (
    utterance: Utterance,
    outcome: Parameters<typeof toSessionMessage>[1] & { kind: 'outcome' },
  ) => toSessionMessage('s-1', { ...outcome, delivered: { ...outcome.delivered, utterance } });
  const sent = { kind: 'outcome', isNumbered: true, sentAt: 5, webToSchedulerMs: undefined } as const;

  it('name their language and their own job', () => {
    const outcome = { kind: 'result', result: { ...result, ttsAudio: '' }, toNodeMs: undefined } as const;
    expect(write(text, { ...sent, delivered: { utterance: text, outcome, deliverySeq: 7 } })).toMatchObject({
      type: 'translation_result',
      job_id: 'job-1',
      tgt_lang: 'es',
      text_translated: 'hola',
      tts_audio: '',
      delivery_seq: 7,
    });
  });

  it('a voice is a message of its own', () => {
    const outcome = { kind: 'result', result, toNodeMs: undefined } as const;
    expect(write(voice, { ...sent, delivered: { utterance: voice, outcome, deliverySeq: 8 } })).toEqual({
      type: 'voice_result',
      session_id: 's-1',
      utterance_index: 3,
      job_id: 'job-2',
      trace_id: 'trace-1',
      tgt_lang: 'es',
      tts_audio: 'AAAA',
      tts_format: 'pcm16',
      group_id: 'g-1',
      part_index: 0,
      scheduler_sent_at_ms: 5,
      delivery_seq: 8,
    });
  });

  it('a missing voice says that only the voice is missing', () => {
    const outcome = { kind: 'missing', reason: 'job_failed' } as const;
    expect(write(voice, { ...sent, delivered: { utterance: voice, outcome, deliverySeq: 9 } })).toMatchObject(
      {
        type: 'missing_result',
        tgt_lang: 'es',
        part: 'voice',
      },
    );
  });
});
