/** A session with several target languages: each utterance has an outcome for each text and each voice. */
import { describe, expect, it } from 'vitest';
import { openSession } from '../../src/client/index.ts';
import { ackOf } from './support/scripted-scheduler.ts';
import { accepted, bytes, missing, result, startSession } from './support/start-session.ts';

const WANTED = { tgtLang: undefined, tgtLangs: ['es', 'fr'], voiceLangs: ['es'] };
const answer = (init: { resume_session_id?: string }) =>
  ackOf(init.resume_session_id ?? 's-1', {
    tgt_langs: ['es', 'fr'],
    voice_langs: ['es'],
    ...(init.resume_session_id !== undefined && { resumed: true }),
  });
const voice = (index: number, seq: number) =>
  ({
    type: 'voice_result',
    session_id: 's-1',
    utterance_index: index,
    job_id: 'job-1',
    tgt_lang: 'es',
    tts_audio: 'AAAA',
    tts_format: 'pcm16',
    trace_id: 't',
    group_id: 'g',
    delivery_seq: seq,
  }) as const;

describe('a session with several target languages', () => {
  it('names them, and the first one for schedulers that know only one', async () => {
    const { scheduler } = await startSession(WANTED, { answer });
    expect(scheduler.ofType('session_init')[0]).toMatchObject({
      tgt_lang: 'es',
      tgt_langs: ['es', 'fr'],
      voice_langs: ['es'],
    });
  });

  it('emits texts and voices with their language', async () => {
    const { scheduler, of } = await startSession(WANTED, { answer });
    scheduler.send(result(0, { tgt_lang: 'fr', text_translated: 'bonjour', delivery_seq: 1 }));
    scheduler.send(voice(0, 2));
    scheduler.send({ ...missing(1, { tgt_lang: 'es', delivery_seq: 3 }), part: 'voice' });
    await scheduler.caughtUp();
    expect(of('result')).toMatchObject([{ language: 'fr', textTranslated: 'bonjour' }]);
    expect(of('voice')).toMatchObject([
      { utteranceIndex: 0, language: 'es', groupId: 'g', ttsAudio: new Uint8Array(3) },
    ]);
    expect(of('missing')).toMatchObject([{ utteranceIndex: 1, language: 'es', part: 'voice' }]);
  });

  it('keeps the audio until the last outcome, also over a reconnect', async () => {
    const { scheduler, session, reconnect } = await startSession(WANTED, { answer });
    session.sendAudio(bytes('hello'));
    session.endUtterance();
    await scheduler.caughtUp();
    const seqs = scheduler.ofType('audio_chunk').map(({ seq }) => seq);
    scheduler.send(accepted(0, Math.min(...seqs), Math.max(...seqs)));
    scheduler.send(result(0, { tgt_lang: 'es', delivery_seq: 1 }));
    scheduler.send(voice(0, 2));
    await scheduler.caughtUp();
    expect(session.unsettledBytes).toBe(5);
    await reconnect();
    expect(session.unsettledBytes).toBe(5);
    scheduler.send(result(0, { tgt_lang: 'fr', delivery_seq: 3 }));
    await scheduler.caughtUp();
    expect(session.unsettledBytes).toBe(0);
  });

  it('emits no outcome twice if the session was lost between two of them', async () => {
    const { scheduler, session, of, reconnect } = await startSession(WANTED, { answer: () => answer({}) });
    session.sendUtterance(bytes('hello'));
    await scheduler.caughtUp();
    const requestId = scheduler.ofType('utterance')[0]?.request_id ?? '';
    const acceptance = {
      type: 'utterance_accepted',
      utterance_index: 0,
      job_id: 'job-1',
      request_id: requestId,
    } as const;
    scheduler.send(acceptance);
    scheduler.send(result(0, { tgt_lang: 'es', text_translated: 'hola', delivery_seq: 1 }));
    await scheduler.caughtUp();
    await reconnect();
    scheduler.send(acceptance);
    scheduler.send(result(0, { tgt_lang: 'es', text_translated: 'hola', delivery_seq: 1 }));
    scheduler.send(result(0, { tgt_lang: 'fr', text_translated: 'bonjour', delivery_seq: 2 }));
    scheduler.send(voice(0, 3));
    await scheduler.caughtUp();
    expect(of('result').map(({ textTranslated }) => textTranslated)).toEqual(['hola', 'bonjour']);
    expect(of('voice')).toHaveLength(1);
    expect(session.unsettledBytes).toBe(0);
  });

  it('counts one outcome where the scheduler knows no several languages', async () => {
    const { scheduler, session } = await startSession(WANTED);
    session.sendAudio(bytes('hello'));
    session.endUtterance();
    await scheduler.caughtUp();
    const seqs = scheduler.ofType('audio_chunk').map(({ seq }) => seq);
    scheduler.send(accepted(0, Math.min(...seqs), Math.max(...seqs)));
    scheduler.send(result(0));
    await scheduler.caughtUp();
    expect(session.unsettledBytes).toBe(0);
  });

  it('needs a language', () => {
    const none = { url: 'ws://127.0.0.1:1', srcLang: 'en', WebSocket: class {} as never };
    expect(() => openSession({ ...none, tgtLangs: [] })).toThrow(/tgtLang must be a language/);
  });
});
