import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import { outcomeOf, weightOf } from '../../../src/session/outcomes/outcome.ts';

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
  it('a result with text is delivered unchanged', () => {
    const given = result({ extra: { reason: 'ASR_EMPTY', emotion: 'calm' } });
    expect(outcomeOf(given, 12)).toEqual({ kind: 'result', result: given, toNodeMs: 12 });
  });

  it('an empty result is silence', () => {
    expect(outcomeOf(result(EMPTY), undefined)).toEqual(SILENCE);
  });

  for (const reason of ['NO_TEXT_ASSIGNED', 'ASR_EMPTY']) {
    it(`a result without translation and with ${reason} is silence`, () => {
      const given = result({ ...EMPTY, textAsr: 'uh', extra: { reason } });
      expect(outcomeOf(given, undefined)).toEqual(SILENCE);
    });
  }

  it('text without such a reason, or speech alone, is a result', () => {
    expect(outcomeOf(result({ ...EMPTY, textAsr: 'uh' }), undefined).kind).toBe('result');
    expect(outcomeOf(result({ ...EMPTY, ttsAudio: 'AAAA' }), undefined).kind).toBe('result');
    const translated = result({ ...EMPTY, textTranslated: '嗯', extra: { reason: 'ASR_EMPTY' } });
    expect(outcomeOf(translated, undefined).kind).toBe('result');
    const other = result({ ...EMPTY, textAsr: 'uh', extra: { reason: 'OTHER' } });
    expect(outcomeOf(other, undefined).kind).toBe('result');
  });

  it('the weight of an outcome includes text and speech', () => {
    const light = weightOf(outcomeOf(result(), undefined));
    const heavy = weightOf(outcomeOf(result({ ttsAudio: 'A'.repeat(10_000) }), undefined));
    expect(heavy - light).toBe(9_996);
    expect(weightOf({ kind: 'missing', reason: 'job_failed' })).toBeGreaterThan(0);
  });
});
