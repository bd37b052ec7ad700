/** MODEL_NOT_AVAILABLE: whatever a node puts into the details, what is read of it is few bounded words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMissingModel, readModelReport, reasonWord } from '../../../src/management/marks/model-report.ts';

const read = (details: Record<string, unknown>) => readModelReport(details);

describe('MODEL_NOT_AVAILABLE: a report', () => {
  it('has a service, a version and a reason, in current or legacy names', () => {
    const missing = { serviceId: 'nmt-m2m100', version: '1.2.0', reason: 'not_found' };
    const today = { service_id: 'nmt-m2m100', service_version: '1.2.0', reason: 'not_found' };
    expect(read(today)).toEqual({ kind: 'read', missing });
    expect(read({ model_id: 'nmt-m2m100', version: '1.2.0', reason: 'not_found' })).toEqual({
      kind: 'read',
      missing,
    });
    expect(read({ ...today, model_id: 'other', version: '9' })).toEqual({ kind: 'read', missing });
  });

  it.each([
    ['nothing', {}, 'missing_service_id'],
    ['null', { service_id: null }, 'missing_service_id'],
    ['an empty name', { service_id: '' }, 'missing_service_id'],
    ['blanks', { service_id: '   ' }, 'invalid_service_id'],
    ['a number', { service_id: 7 }, 'invalid_service_id'],
    ['a list', { service_id: ['a'] }, 'invalid_service_id'],
    ['a line break', { service_id: 'a\nb' }, 'invalid_service_id'],
    ['a name that is too long', { service_id: 'x'.repeat(129) }, 'invalid_service_id'],
  ])('that names %s is unreadable, with a reason', (_, details, reason) => {
    expect(read(details)).toEqual({ kind: 'unreadable', reason });
  });

  it('has a default version if none or an invalid one is given', () => {
    for (const given of [undefined, '', '  ', {}, 'v'.repeat(65), 'a\u0000'])
      expect(read({ service_id: 's', service_version: given })).toMatchObject({
        missing: { version: 'unknown' },
      });
    expect(read({ service_id: 's', version: 2 })).toMatchObject({ missing: { version: '2' } });
  });

  it.each([
    ['not installed', 'not_found'],
    ['Model file missing', 'not_found'],
    ['SHA256 checksum differs', 'checksum_mismatch'],
    ['model corrupted', 'checksum_mismatch'],
    ['failed to load weights', 'load_failed'],
    ['download timed out', 'timeout'],
    ['CUDA out of memory', 'oom'],
    ['still downloading', 'downloading'],
    ['version 2 wanted', 'version_mismatch'],
    ['service is not running', 'not_running'],
    ['OOM', 'oom'],
    ['simulated', 'other'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    [42, 'unknown'],
  ])('whose reason is %j counts as %s', (given, word) => {
    expect(reasonWord(given)).toBe(word);
  });

  it('is bounded or unreadable for any input, and can be forwarded', () => {
    const anything = fc.oneof(fc.anything(), fc.string({ maxLength: 300 }), fc.constant('s'));
    const details = fc.record(
      {
        service_id: anything,
        model_id: anything,
        service_version: anything,
        version: anything,
        reason: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(details, (given) => {
        const result = read(given);
        if (result.kind === 'unreadable') return;
        expect(isMissingModel(result.missing)).toBe(true);
        expect(JSON.stringify(result.missing).length).toBeLessThan(1_000);
      }),
    );
  });

  it('from another instance is checked again', () => {
    const sound = { serviceId: 's', version: '1', reason: 'oom' };
    expect(isMissingModel(sound)).toBe(true);
    for (const part of [
      { serviceId: '' },
      { serviceId: 3 },
      { version: 'v'.repeat(65) },
      { reason: 'new word' },
    ])
      expect(isMissingModel({ ...sound, ...part })).toBe(false);
  });
});
