import { describe, expect, it } from 'vitest';
import { toFailure, toResult } from '../../../src/transport/wire/job-report.ts';
import { jobResult } from '../ws/messages.ts';

describe('result of a job', () => {
  it('absent texts become empty', () => {
    const { text_asr: _, text_translated: __, ...bare } = jobResult('n');
    expect(toResult(bare)).toEqual({ textAsr: '', textTranslated: '', ttsAudio: '', ttsFormat: '' });
  });

  it('the detected language is what the node names, else the most probable one', () => {
    const language_probabilities = { en: 0.2, de: 0.7, fr: 0.1 };
    const detected = (fields: Parameters<typeof jobResult>[1]) =>
      toResult(jobResult('n', fields)).details?.detected_language;
    expect(detected({ detected_language: 'fr', extra: { language_probabilities } })).toBe('fr');
    expect(detected({ extra: { language_probabilities } })).toBe('de');
    expect(detected({ extra: { language_probability: 0.9 } })).toBeUndefined();
  });

  it('quality, group and times are separated from free keys', () => {
    const result = toResult(
      jobResult('n', {
        processing_time_ms: 12,
        node_completed_at_ms: 99,
        group_id: 'g',
        part_index: 1,
        asr_quality_level: 'good',
        reason_codes: ['R'],
        quality_score: 1,
        rerun_count: 0,
        segments_meta: { count: 2 },
        extra: { anything: { nested: true } },
        unheard_of: 'ignored',
      }),
    );
    expect(result).toMatchObject({
      processingTimeMs: 12,
      extra: { anything: { nested: true } },
      details: {
        group_id: 'g',
        part_index: 1,
        node_completed_at_ms: 99,
        asr_quality_level: 'good',
        reason_codes: ['R'],
        quality_score: 1,
        rerun_count: 0,
        segments_meta: { count: 2 },
      },
    });
    expect(JSON.stringify(result)).not.toContain('unheard_of');
  });

  it.each([
    ['an object', { running: 4 }, { details: { running: 4 } }],
    ['text', 'full', {}],
    ['a list', [1], {}],
  ])('details of a failure are kept only if they are an object: %s', (_, details, expected) => {
    const error = { code: 'NODE_OVERLOADED', message: 'full', details };
    expect(toFailure(jobResult('n', { success: false, error }))).toEqual({
      code: 'NODE_OVERLOADED',
      message: 'full',
      ...expected,
    });
  });
});
