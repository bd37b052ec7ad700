/** MODEL_NOT_AVAILABLE and types: most jobs ask for a type, so a mark on a service must reach them, and only them. */
import { describe, expect, it } from 'vitest';
import { hiddenBy, isReportedReady, usedAmong } from '../../../src/management/marks/marked-services.ts';
import {
  afterClaims,
  afterPlacement,
  afterReport,
  type Marks,
  type MaybeMarks,
} from '../../../src/management/marks/marks.ts';
import { anyProfile } from '../../runtime/fleet/fleet-fixture.ts';
import { SETTINGS } from '../registry-fixture.ts';

const RULES = SETTINGS.marks;
const NOW = 1_000_000;
const TYPES = new Map([
  ['m2m', 'nmt'],
  ['nllb', 'nmt'],
  ['piper', 'tts'],
]);
const typeOf = (serviceId: string) => TYPES.get(serviceId);

const profile = (...ready: string[]) => ({ ...anyProfile, installedServices: ready, readyServices: ready });
function marksOn(...ids: string[]): Marks {
  let marks: MaybeMarks;
  for (const id of ids) marks = afterReport(marks, id, RULES, NOW);
  return marks as Marks;
}
const onTrial = (marks: Marks) => afterClaims(marks, () => true, NOW + 1);
const used = (marks: Marks, ready: readonly string[], use: { types?: string[]; services?: string[] }) =>
  [...usedAmong(marks, profile(...ready), typeOf, { types: [], services: [], ...use })].sort();

describe('MODEL_NOT_AVAILABLE: a marked service hides its type', () => {
  it('when no other service of that type is ready', () => {
    expect(hiddenBy(marksOn('m2m'), profile('m2m', 'piper'), typeOf)).toMatchObject({
      services: ['m2m'],
      types: ['nmt'],
    });
    expect(hiddenBy(marksOn('m2m'), profile(), typeOf)).toMatchObject({ services: ['m2m'], types: ['nmt'] });
    const both = hiddenBy(marksOn('m2m', 'nllb'), profile('m2m', 'nllb'), typeOf);
    expect(both).toMatchObject({ services: ['m2m', 'nllb'], types: ['nmt'] });
  });

  it('not when another service of that type is ready and unmarked', () => {
    expect(hiddenBy(marksOn('m2m'), profile('m2m', 'nllb'), typeOf)).toMatchObject({
      services: ['m2m'],
      types: [],
    });
  });

  it('when the node reports it again although another service is ready', () => {
    const again = afterReport(marksOn('m2m'), 'm2m', RULES, NOW + RULES.debounceMs);
    expect(hiddenBy(again, profile('m2m', 'nllb'), typeOf).types).toEqual(['nmt']);
  });

  it('not when its type is unknown', () => {
    expect(hiddenBy(marksOn('strange'), profile('m2m'), typeOf)).toMatchObject({
      services: ['strange'],
      types: [],
    });
  });

  it('and all types when the node keeps reporting it', () => {
    const again = (id: string, times: number) => {
      let marks = marksOn(id);
      for (let at = 1; at <= times; at += 1)
        marks = afterReport(marks, id, RULES, NOW + at * RULES.debounceMs);
      return hiddenBy(marks, { ...profile('m2m'), readyTypes: ['asr', 'semantic'] }, typeOf).types;
    };
    expect([again('strange', 0), again('strange', 1)]).toEqual([[], ['asr', 'semantic']]);
    expect([again('piper', 1), again('piper', 2)]).toEqual([['tts'], ['asr', 'semantic']]);
    const ofAnything = afterReport(marksOn('strange'), 'strange', RULES, NOW + RULES.debounceMs);
    expect(hiddenBy(ofAnything, anyProfile, typeOf).types).toEqual(['asr', 'nmt', 'semantic', 'tone', 'tts']);
    expect(used(ofAnything, ['m2m'], { types: ['asr'] })).toEqual([]);
    expect(used(onTrial(ofAnything), ['m2m'], { types: ['asr'] })).toEqual(['strange']);
  });

  it('until the mark of each service and type ends', () => {
    const later = NOW + RULES.debounceMs;
    const two = afterReport(marksOn('m2m', 'piper'), 'nllb', RULES, later);
    const end = NOW + RULES.ttlMs;
    const lateEnd = later + RULES.ttlMs;
    // One of the two services is enough for the type.
    expect(hiddenBy(two, profile('m2m', 'nllb', 'piper'), typeOf)).toEqual({
      services: ['m2m', 'nllb', 'piper'],
      types: ['nmt', 'tts'],
      endsAt: [end, lateEnd, end, end, end],
    });
    // A mark of the whole type must end.
    const again = afterReport(two, 'm2m', RULES, later);
    expect(hiddenBy(again, profile('m2m', 'nllb', 'piper'), typeOf)).toMatchObject({
      types: ['nmt', 'tts'],
      endsAt: [lateEnd, lateEnd, end, lateEnd, end],
    });
  });

  it('not on probation, but while it is probed', () => {
    const trial = onTrial(marksOn('m2m'));
    expect(hiddenBy(trial, profile('m2m'), typeOf)).toEqual({ services: [], types: [] });
    const probing = afterPlacement(trial, new Set(['m2m']), RULES, NOW);
    expect(hiddenBy(probing, profile('m2m'), typeOf).types).toEqual(['nmt']);
  });
});

describe('MODEL_NOT_AVAILABLE: a job uses a marked service', () => {
  it('if it names it, or no unmarked service can have done its type', () => {
    const marks = marksOn('m2m');
    expect(used(marks, ['m2m', 'nllb'], { services: ['m2m', 'piper'] })).toEqual(['m2m']);
    expect(used(marks, ['m2m'], { types: ['semantic', 'nmt'] })).toEqual(['m2m']);
    expect(used(marks, ['m2m', 'nllb'], { types: ['nmt'] })).toEqual([]);
    expect(used(marks, ['m2m'], { types: ['tts'] })).toEqual([]);
  });

  it('of several marked ones only those whose marks let jobs through', () => {
    const trial = afterReport(onTrial(marksOn('m2m')), 'nllb', RULES, NOW + 2);
    expect(used(trial, ['m2m', 'nllb'], { types: ['nmt'] })).toEqual(['m2m']);
    expect(used(marksOn('m2m', 'nllb'), ['m2m', 'nllb'], { types: ['nmt'] })).toEqual(['m2m', 'nllb']);
  });
});

describe('MODEL_NOT_AVAILABLE: a report says of a service', () => {
  it('whether it is ready, by its id', () => {
    expect(isReportedReady({}, profile('m2m'), typeOf, 'm2m')).toBe(true);
    expect(isReportedReady({}, profile('m2m'), typeOf, 'nllb')).toBe(false);
    const stopped = { ...profile('m2m'), readyServices: [] };
    expect(isReportedReady({}, stopped, typeOf, 'm2m')).toBe(false);
  });

  it('whether it is ready, by its type, if it lists no services', () => {
    const types = { types: [{ type: 'nmt', isReady: true }] };
    expect(isReportedReady(types, { ...profile(), readyTypes: ['nmt'] }, typeOf, 'm2m')).toBe(true);
    expect(isReportedReady(types, { ...profile(), readyTypes: ['tts'] }, typeOf, 'm2m')).toBe(false);
    expect(isReportedReady(types, { ...profile(), readyTypes: ['nmt'] }, typeOf, 'strange')).toBe(false);
    expect(isReportedReady(types, { ...profile('m2m'), readyTypes: ['tts'] }, typeOf, 'm2m')).toBe(false);
  });
});
