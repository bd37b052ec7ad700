/** Hands-free talk and the turns of a conversation, without a browser. */
import type { SessionEvent } from '@lingua/sdk/client';
import { describe, expect, it } from 'vitest';
import { CLOSED_GATE, type GateState, hear, thresholdOf } from '../src/talk/energy-gate.ts';
import { applyEvent, newTurn } from '../src/talk/turns.ts';

const FRAME_MS = 40;
const after = (state: GateState, loudness: number, ms: number): GateState => {
  let next = state;
  for (let at = 0; at < ms; at += FRAME_MS) next = hear(next, loudness, FRAME_MS);
  return next;
};

describe('the energy gate', () => {
  it('opens for speech and closes after a pause', () => {
    const speaking = after(CLOSED_GATE, 0.2, 200);
    expect(speaking.isOpen).toBe(true);
    expect(after(speaking, 0.001, 400).isOpen).toBe(true);
    expect(after(speaking, 0.001, 1_200).isOpen).toBe(false);
  });

  it('stays closed for one loud frame', () => {
    expect(hear(CLOSED_GATE, 0.5, FRAME_MS).isOpen).toBe(false);
  });

  it('a noisy room raises the threshold', () => {
    const noisy = after(CLOSED_GATE, 0.011, 20_000);
    expect(thresholdOf(noisy)).toBeGreaterThan(thresholdOf(CLOSED_GATE));
    expect(after(noisy, 0.02, 1_000).isOpen).toBe(false);
    expect(after(noisy, 0.2, 200).isOpen).toBe(true);
  });
});

describe('a turn', () => {
  const result = (texts: { asr: string; translated: string }, extra: object = {}) =>
    ({
      type: 'result',
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

  it('joins the texts of utterances that the scheduler cut', () => {
    const first = applyEvent(ended, result({ asr: 'one', translated: '一' }), 1_100);
    const second = applyEvent(first, result({ asr: 'two', translated: '二' }), 1_200);
    expect(second.heard).toBe('one two');
    expect(second.translated).toBe('一 二');
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
