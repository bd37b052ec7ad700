/** The hot-path rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkHotPath } from '../../src/checker/hot-path.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { asked, fault, healed, imagine, type Step } from './build-history.ts';

const allowances = { ...ALLOWANCES, dispatchMs: 50, recoverMs: 1_000 };
const check = (...steps: readonly Step[]) => checkHotPath(gatherFacts(imagine(...steps)), allowances);
const answer = (askedAt: number, at: number): Step => [
  at,
  { kind: 'accepted', client: 'c', request: 'r', job: 'j', askedAt },
];
const cold = (kind: 'cold_began' | 'cold_ended') => ({ kind, what: 'catalogue' }) as const;

describe('I6 in a history', () => {
  it('holds for answers in time, also during cold work, which is counted', () => {
    const { violations, counts, judged } = check(
      answer(100, 150),
      [1_000, cold('cold_began')],
      answer(1_100, 1_150),
      [2_000, cold('cold_ended')],
      answer(2_100, 2_101),
    );
    expect(violations).toEqual([]);
    expect(counts).toEqual({ 'answers during cold work': 1, 'longest answer without faults, ms': 50 });
    expect(judged).toEqual({ 'I6 hot path': 3 });
  });

  it('is broken by an answer that waited for cold work', () => {
    const { violations } = check([1_000, cold('cold_began')], answer(1_100, 1_151));
    expect(violations).toMatchObject([{ invariant: 'I6 hot path', at: 1_151, about: ['r'] }]);
    expect(violations[0]?.message).toContain('cold work');
  });

  it('takes cold work without an end as over when it begins again', () => {
    const { counts } = check(
      [1_000, cold('cold_began')],
      [2_000, cold('cold_began')],
      [2_010, cold('cold_ended')],
      answer(1_500, 1_510),
      answer(2_500, 2_510),
    );
    expect(counts['answers during cold work']).toBe(1);
  });

  it('is broken by a refusal that took too long', () => {
    const refused = { kind: 'refused', client: 'c', request: 'r', code: 'X', askedAt: 100 } as const;
    expect(check([151, refused]).violations).toHaveLength(1);
  });

  it('is not judged during a fault, nor right after', () => {
    const broken = [
      [1_000, fault(1, 'shard_frozen')],
      [1_500, healed(1)],
    ] as const;
    expect(check(...broken, answer(1_400, 2_400)).judged).toEqual({ 'I6 hot path': 0 });
    expect(check(...broken, answer(2_600, 2_700)).violations).toHaveLength(1);
    expect(check([1_000, fault(1, 'node_killed')], answer(1_100, 1_200)).violations).toHaveLength(1);
  });

  it('allows requests to wait as long as they requested', () => {
    const patient = { ...asked('r'), waitMs: 2_000 } as Step;
    expect(check(patient, answer(200, 2_250)).violations).toEqual([]);
    expect(check(patient, answer(200, 2_250)).judged).toEqual({ 'I6 hot path': 0 });
    expect(check(patient, answer(200, 250)).judged).toEqual({ 'I6 hot path': 1 });
    expect(check(patient, answer(200, 2_251)).violations).toHaveLength(1);
  });

  it('does not judge tries whose sending time is unknown', () => {
    expect(check([9_000, { kind: 'accepted', client: 'c', request: 'r', job: 'j' }]).judged).toEqual({
      'I6 hot path': 0,
    });
  });

  describe('in virtual time', () => {
    const exact = { ...allowances, isExact: true };
    const judge = (...steps: readonly Step[]) =>
      checkHotPath(gatherFacts(imagine(...steps)), exact).violations;
    const by = (instance: string, askedAt: number, at: number): Step => [
      at,
      { kind: 'accepted', client: 'c', request: 'r', job: 'j', askedAt, instance },
    ];
    const unanswered: Step = [
      4_000,
      { kind: 'unanswered', client: 'c', request: 'r', askedAt: 1_000, why: 'no answer' },
    ];

    it('only faults of the store and of the answering instance count', () => {
      const killed = [
        [1_000, fault(1, 'instance_killed', 'i')],
        [1_500, healed(1)],
      ] as const;
      const known = 1_500 + ALLOWANCES.presenceMs;
      expect(judge(...killed, by('i', 2_000, 2_400))).toEqual([]);
      expect(judge(...killed, by('i', known, known + 400))).toEqual([]);
      expect(judge(...killed, by('i', known + 1, known + 400))).toHaveLength(1);
      expect(judge(...killed, by('k', 2_000, 2_400))).toHaveLength(1);
      expect(judge([1_000, fault(1, 'shard_lossy', 's')], by('k', 2_000, 2_400))).toEqual([]);
      expect(judge([1_000, fault(1, 'network_bad', '*')], by('k', 2_000, 2_400))).toEqual([]);
    });

    it('is broken by a try without an answer while there was no fault', () => {
      expect(judge(unanswered)).toMatchObject([{ invariant: 'I6 hot path', at: 4_000 }]);
      expect(judge([500, fault(1, 'instance_killed', 'i')], unanswered)).toEqual([]);
      for (const what of ['client_cut', 'client_partitioned'] as const)
        expect(judge([3_000, fault(1, what, 'c')], unanswered)).toEqual([]);
      expect(judge([3_000, fault(1, 'client_cut', 'd')], unanswered)).toHaveLength(1);
      expect(check(unanswered).violations).toEqual([]);
    });
  });
});
