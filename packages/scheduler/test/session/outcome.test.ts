import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/domain/job-spec.ts';
import { outcomeOf, weightOf } from '../../src/session/outcomes/outcome.ts';

const result = (overrides: Partial<JobResult> = {}): JobResult => ({
  textAsr: 'hello',
  textTranslated: '你好',
  ttsAudio: 'AAAA',
  ttsFormat: 'opus',
  ...overrides,
});

const EMPTY = { textAsr: '', textTranslated: '', ttsAudio: '' };
const SILENCE = { kind: 'missing', reason: 'silence_detected' };

describe('the outcome of a result', () => {
  it('is the result, as it came', () => {
    const given = result({ extra: { reason: 'ASR_EMPTY', emotion: 'calm' } });
    expect(outcomeOf(given, 12)).toEqual({ kind: 'result', result: given, toNodeMs: 12 });
  });

  it('is silence if nothing is in it', () => {
    expect(outcomeOf(result(EMPTY), undefined)).toEqual(SILENCE);
  });

  for (const reason of ['NO_TEXT_ASSIGNED', 'ASR_EMPTY']) {
    it(`is silence if a node says ${reason} and translated nothing`, () => {
      const given = result({ ...EMPTY, textAsr: 'uh', extra: { reason } });
      expect(outcomeOf(given, undefined)).toEqual(SILENCE);
    });
  }

  it('is a result if there is any text without such a reason, or speech alone', () => {
    expect(outcomeOf(result({ ...EMPTY, textAsr: 'uh' }), undefined).kind).toBe('result');
    expect(outcomeOf(result({ ...EMPTY, ttsAudio: 'AAAA' }), undefined).kind).toBe('result');
    const translated = result({ ...EMPTY, textTranslated: '嗯', extra: { reason: 'ASR_EMPTY' } });
    expect(outcomeOf(translated, undefined).kind).toBe('result');
    const other = result({ ...EMPTY, textAsr: 'uh', extra: { reason: 'OTHER' } });
    expect(outcomeOf(other, undefined).kind).toBe('result');
  });

  it('weighs what keeping it costs', () => {
    const light = weightOf(outcomeOf(result(), undefined));
    const heavy = weightOf(outcomeOf(result({ ttsAudio: 'A'.repeat(10_000) }), undefined));
    expect(heavy - light).toBe(9_996);
    expect(weightOf({ kind: 'missing', reason: 'job_failed' })).toBeGreaterThan(0);
  });
});
