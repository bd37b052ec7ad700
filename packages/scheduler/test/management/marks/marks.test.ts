/** MODEL_NOT_AVAILABLE, the life of a mark: who is believed when, whatever happens in which order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterClaims,
  afterFailure,
  afterPlacement,
  afterReport,
  afterSuccess,
  afterTime,
  isHidden,
  type MarkPhase,
  type Marks,
  type MaybeMarks,
} from '../../../src/management/marks/marks.ts';
import { SETTINGS } from '../registry-fixture.ts';

const RULES = SETTINGS.marks;
const NOW = 1_000_000;
const S = new Set(['s']);

const marked = afterReport(undefined, 's', RULES, NOW);
const claim = (marks: Marks, becameReady: boolean, now = NOW + 1): Marks =>
  afterClaims(marks, () => becameReady, now);
const onTrial = claim(marked, true);
const probing = afterPlacement(onTrial, S, RULES, NOW + 2);
const phaseOf = (marks: MaybeMarks): MarkPhase | undefined => marks?.get('s')?.phase;

describe('MODEL_NOT_AVAILABLE: a mark', () => {
  it('keeps jobs away for its time, then lets one through', () => {
    expect(phaseOf(afterTime(marked, NOW + RULES.ttlMs - 1))).toBe('marked');
    const over = afterTime(marked, NOW + RULES.ttlMs);
    expect(phaseOf(over)).toBe('probation');
    expect(phaseOf(afterPlacement(over, S, RULES, NOW))).toBe('probing');
  });

  it('is not changed by further reports within the debounce window', () => {
    expect(afterReport(marked, 's', RULES, NOW + RULES.debounceMs - 1)).toBe(marked);
    const later = afterReport(marked, 's', RULES, NOW + RULES.debounceMs);
    expect(later.get('s')).toMatchObject({ until: NOW + RULES.debounceMs + RULES.ttlMs, reach: 'type' });
  });

  it('becomes a probation when the report of the service changes to ready', () => {
    expect(claim(marked, false)).toBe(marked);
    expect(phaseOf(onTrial)).toBe('probation');
  });

  it('ends with any success of a job that used the service', () => {
    for (const marks of [marked, onTrial, probing]) expect(afterSuccess(marks, S)).toBeUndefined();
    expect(afterSuccess(marked, new Set(['t']))).toBe(marked);
  });

  it('returns for its whole time when the probe fails', () => {
    for (const again of [
      afterReport(probing, 's', RULES, NOW + 3),
      afterReport(onTrial, 's', RULES, NOW + 3),
      afterFailure(probing, S, RULES, NOW + 3),
    ]) {
      expect(again.get('s')).toMatchObject({ phase: 'marked', until: NOW + 3 + RULES.ttlMs });
      expect(claim(again, false)).toBe(again);
      expect(phaseOf(afterTime(again, NOW + 3 + RULES.ttlMs))).toBe('probation');
    }
  });

  it('is not made or renewed by failures of other jobs', () => {
    expect(afterFailure(marked, S, RULES, NOW + 9)).toBe(marked);
    expect(afterFailure(onTrial, S, RULES, NOW + 9)).toBe(onTrial);
    expect(afterFailure(probing, new Set(['t']), RULES, NOW + 9)).toBe(probing);
  });

  it('is probed again when the outcome of a probe is missing', () => {
    expect(phaseOf(afterTime(probing, NOW + 2 + RULES.probeTimeoutMs - 1))).toBe('probing');
    expect(phaseOf(afterTime(probing, NOW + 2 + RULES.probeTimeoutMs))).toBe('probation');
  });

  it('replaces the oldest one when the node has too many', () => {
    const rules = { ...RULES, maxPerNode: 3 };
    let marks: MaybeMarks;
    for (const id of ['a', 'b', 'c']) marks = afterReport(marks, id, rules, NOW);
    marks = afterReport(marks, 'a', rules, NOW + RULES.debounceMs);
    expect([...afterReport(marks, 'd', rules, NOW + RULES.debounceMs).keys()]).toEqual(['c', 'a', 'd']);
  });
});

type Act =
  | { kind: 'report' | 'placed' | 'success' | 'failure'; id: string }
  | { kind: 'claim'; becameReady: boolean }
  | { kind: 'wait'; ms: number };

const id = fc.constantFrom('s', 't', 'u');
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('report', 'placed', 'success', 'failure'), id }),
  fc.record({ kind: fc.constant('claim' as const), becameReady: fc.boolean() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 70_000 }) }),
) as fc.Arbitrary<Act>;

function perform(marks: MaybeMarks, one: Act, now: number): MaybeMarks {
  if (one.kind === 'report') return afterReport(marks, one.id, RULES, now);
  if (marks === undefined) return undefined;
  if (one.kind === 'placed') return afterPlacement(marks, new Set([one.id]), RULES, now);
  if (one.kind === 'success') return afterSuccess(marks, new Set([one.id]));
  if (one.kind === 'failure') return afterFailure(marks, new Set([one.id]), RULES, now);
  if (one.kind === 'claim') return claim(marks, one.becameReady, now);
  return afterTime(marks, now);
}

describe('MODEL_NOT_AVAILABLE: in every history', () => {
  it('only services reported since their last success are hidden, and not for ever', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const suspects = new Set<string>();
        let marks: MaybeMarks;
        let now = NOW;
        for (const one of acts) {
          if (one.kind === 'wait') now += one.ms;
          if (one.kind === 'report') suspects.add(one.id);
          if (one.kind === 'success') suspects.delete(one.id);
          marks = perform(marks, one, now);
          expect(new Set(marks?.keys())).toEqual(suspects);
          // After a word of the node that lacks a model no job goes there.
          if (one.kind === 'report') expect(isHidden(marks?.get(one.id) as never)).toBe(true);
        }
        const late = now + Math.max(RULES.ttlMs, RULES.probeTimeoutMs);
        for (const mark of (marks && afterTime(marks, late))?.values() ?? [])
          expect(isHidden(mark)).toBe(false);
      }),
    );
  });

  it('the same object is returned if nothing changes', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        let marks: MaybeMarks;
        for (const one of acts) {
          const next = perform(marks, one, NOW);
          if (marks !== undefined && next !== undefined && next !== marks)
            expect([...next]).not.toEqual([...marks]);
          marks = next;
        }
      }),
    );
  });

  it('a node that reports ready as before gets one failing job per mark', () => {
    const beats = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(beats, fc.integer({ min: 1, max: 4 }), (beatEvery, answerAfter) => {
        let marks: MaybeMarks;
        let failed = 0;
        let answerAt = Number.POSITIVE_INFINITY;
        const lives = 6;
        for (let second = 0; second < (lives * RULES.ttlMs) / 1_000; second += 1) {
          const now = NOW + second * 1_000;
          if (marks !== undefined) marks = afterTime(marks, now);
          if (marks !== undefined && second % beatEvery === 0) marks = claim(marks, false, now);
          if (second >= answerAt) {
            marks = afterReport(marks, 's', RULES, now);
            failed += 1;
            answerAt = Number.POSITIVE_INFINITY;
          }
          const mark = marks?.get('s');
          if (answerAt === Number.POSITIVE_INFINITY && (mark === undefined || !isHidden(mark))) {
            if (marks !== undefined) marks = afterPlacement(marks, S, RULES, now);
            answerAt = second + answerAfter;
          }
        }
        expect(failed).toBeLessThanOrEqual(2 + lives);
        expect(failed).toBeGreaterThan(lives - 2);
      }),
    );
  });
});
