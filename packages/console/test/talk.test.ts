/** The turns of a conversation, without a browser. */
import type { SessionEvent } from '@lingua/sdk/client';
import { describe, expect, it } from 'vitest';
import { offered, serviceOf } from '../src/talk/offered.ts';
import { applyEvent, newTurn } from '../src/talk/turns.ts';

describe('a turn', () => {
  const result = (
    texts: { asr: string; translated: string; index?: number; language?: string },
    extra: object = {},
  ) =>
    ({
      type: 'result',
      utteranceIndex: texts.index ?? 0,
      language: texts.language,
      textAsr: texts.asr,
      textTranslated: texts.translated,
      message: { job_id: 'job-1', extra },
    }) as unknown as SessionEvent<'result'>;
  const ended = { ...newTurn(0, 'a', 'en', 'zh'), endedAt: 1_000 };

  it('splits the time to its result into parts that add up', () => {
    const accepted = applyEvent(
      ended,
      { type: 'accepted', jobId: 'job-1' } as SessionEvent<'accepted'>,
      1_050,
    );
    const timings = { asr_ms: 100, nmt_ms: 50, tts_ms: 100 };
    const turn = applyEvent(
      accepted,
      result({ asr: 'hello', translated: '你好' }, { service_timings: timings }),
      1_400,
    );
    expect(turn.totalMs).toBe(400);
    expect(turn.parts).toEqual([
      { name: 'upload', ms: 50 },
      { name: 'asr', ms: 100 },
      { name: 'nmt', ms: 50 },
      { name: 'tts', ms: 100 },
      { name: 'rest', ms: 100 },
    ]);
  });

  it('learns from the voice how a text that came before it was made', () => {
    const text = applyEvent(ended, result({ asr: 'hello', translated: '你好', language: 'zh' }), 1_400);
    const timings = { asr_ms: 100, nmt_ms: 50, tts_ms: 80 };
    const voice = {
      type: 'voice',
      language: 'zh',
      message: { service_timings: timings, extra: { simulated: true } },
    };
    const turn = applyEvent(text, voice as unknown as SessionEvent<'voice'>, 1_500);
    expect(turn.totalMs).toBe(400);
    expect(turn.parts).toEqual([
      { name: 'asr', ms: 100 },
      { name: 'nmt', ms: 50 },
      { name: 'rest', ms: 250 },
    ]);
    expect(turn.speechMs).toBe(80);
    expect([text.isSimulated, turn.isSimulated]).toEqual([false, true]);
  });

  it('joins the texts of utterances that the scheduler cut', () => {
    const first = applyEvent(ended, result({ asr: 'one', translated: '一' }), 1_100);
    const second = applyEvent(first, result({ asr: 'two', translated: '二', index: 1 }), 1_200);
    expect(second.heard).toBe('one two');
    expect(second.translated).toBe('一 二');
  });

  it('has the recognised text once, whatever the number of languages', () => {
    const first = applyEvent(ended, result({ asr: 'one', translated: 'uno', language: 'es' }), 1_100);
    const second = applyEvent(first, result({ asr: 'one', translated: '一', language: 'zh' }), 1_200);
    expect(second.heard).toBe('one');
    expect(second.translated).toBe('一');
    expect([...second.others]).toEqual([['es', 'uno']]);
    expect([first.totalMs, second.totalMs]).toEqual([undefined, 200]);
  });

  it('shows the translation of an unfinished sentence until there is an outcome', () => {
    const partial = (text: string, language?: string) =>
      ({ type: 'partial', text, language }) as unknown as SessionEvent<'partial'>;
    const open = applyEvent(ended, partial('one two'), 1_100);
    const other = applyEvent(applyEvent(open, partial('一', 'zh'), 1_200), partial('uno', 'es'), 1_300);
    expect([other.partial, other.draft, other.translated]).toEqual(['one two', '一', '']);
    const missing = { type: 'missing', reason: 'job_failed' } as unknown as SessionEvent<'missing'>;
    expect(applyEvent(other, missing, 1_400).draft).toBe('');
  });

  it('a missing voice leaves the text', () => {
    const text = applyEvent(ended, result({ asr: 'one', translated: 'un', language: 'zh' }), 1_100);
    const event = { type: 'missing', reason: 'job_failed', part: 'voice', language: 'zh' };
    const silent = applyEvent(text, event as unknown as SessionEvent<'missing'>, 1_200);
    expect(silent.problem).toBeUndefined();
    expect(silent.isSilent).toBe(true);
  });

  it('says that its result is simulated', () => {
    expect(applyEvent(ended, result({ asr: 'a', translated: 'b' }), 1_100).isSimulated).toBe(false);
    expect(
      applyEvent(ended, result({ asr: 'a', translated: 'b' }, { simulated: true }), 1_100).isSimulated,
    ).toBe(true);
  });

  it('names the reason when there is no translation', () => {
    const missing = { type: 'missing', reason: 'job_failed' } as unknown as SessionEvent<'missing'>;
    expect(applyEvent(ended, missing, 1_100).problem).toBe('job_failed');
  });
});

describe('the languages of a conversation', () => {
  const cell = { nodes: 1, ready: 1, slots: 1, free: 1, in_flight: 0, waiting: 0, refused: 0 };
  const fleet = {
    cells: [
      { ...cell, src: 'en', tgt: 'gl' },
      { ...cell, src: 'auto', tgt: 'es' },
      { ...cell, src: 'fr', tgt: 'es', nodes: 0 },
    ],
  };
  const offer = {
    languages: [
      { lang: 'en', voice: true },
      { lang: 'es', voice: true },
      { lang: 'gl', voice: false },
    ],
  };

  it('are those that nodes recognise, and those into which they translate', () => {
    expect(offered(fleet, offer, 'en', undefined)).toEqual({
      sources: ['en'],
      targets: ['es', 'gl'],
      target: 'es',
    });
  });

  it('differ from each other', () => {
    expect(offered(fleet, offer, 'en', 'gl').target).toBe('gl');
    expect(offered(fleet, offer, 'en', 'en').target).toBe('es');
  });

  it('are usual ones until the fleet is known', () => {
    const { sources, targets, target } = offered(undefined, undefined, 'en', undefined);
    expect(sources).toContain('en');
    expect(targets).not.toContain('en');
    expect(target).toBe('zh');
  });

  it('have a voice, only a text, or no translation', () => {
    expect(serviceOf(offer, 'es')).toBe('spoken');
    expect(serviceOf(offer, 'gl')).toBe('text_only');
    expect(serviceOf(offer, 'pt')).toBe('none');
    expect(serviceOf(undefined, 'es')).toBe('unknown');
  });
});
