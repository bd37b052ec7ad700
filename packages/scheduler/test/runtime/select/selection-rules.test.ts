/** Bitmaps against the readable rules, over random fleets, needs, loads and exclusions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REJECTIONS, type Rejection, stageOf } from '../../../src/domain/need.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { explain, failures } from '../../../src/runtime/select/explain.ts';
import { type Selection, select } from '../../../src/runtime/select/select.ts';
import { anyNeed, anyProfile, fleetSteps, nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';
import { createPooledFleet } from '../fleet/named-pools.ts';
import { apply } from '../fleet/plain-fleet.ts';
import { naiveFailures, type PlainNode } from './naive-rules.ts';

const drain = (selection: Selection): string[] => {
  const nodeIds: string[] = [];
  for (let id = selection.next(); id !== undefined; id = selection.next()) nodeIds.push(id);
  return nodeIds;
};

const inOrder = (reasons: Iterable<string>): string[] => {
  const all = new Set(reasons);
  return REJECTIONS.filter((reason) => all.has(reason));
};

const STAGES = ['can', 'may', 'ready', 'room'] as const;

/** The first stage that no node passes together with the stages before it. */
const emptyingStage = (failures: readonly ReadonlySet<Rejection>[]) =>
  STAGES.find((_, at) =>
    failures.every((failed) => [...failed].some((reason) => STAGES.indexOf(stageOf(reason)) <= at)),
  );

const scene = fc.record({
  steps: fleetSteps(21, 60, [0, 0, 40, 100]),
  laterSteps: fleetSteps(21, 8),
  needs: fc.array(anyNeed, { minLength: 1, maxLength: 3 }),
  excluded: fc.uniqueArray(
    fc.integer({ min: 0, max: 24 }).map((n) => `n${n}`),
    { maxLength: 5 },
  ),
  avoid: fc.uniqueArray(
    fc.integer({ min: 0, max: 24 }).map((n) => `n${n}`),
    { maxLength: 5 },
  ),
  sampleK: fc.integer({ min: 1, max: 25 }),
  policy: fc.constantFrom('weighted_random' as const, 'least_loaded' as const),
  isLoadStale: fc.boolean(),
  seed: fc.integer(),
});

describe('selection and the readable rules', () => {
  it('agree on every node, before and after the fleet changes', () => {
    fc.assert(
      fc.property(scene, (s) => {
        const fleet = createPooledFleet();
        const plain = new Map<string, PlainNode>();
        for (const step of s.steps) apply(fleet, plain, step);
        const compiled = s.needs.map((need) => compileNeed(fleet, need));
        const excluded = new Set(s.excluded);
        for (const step of [undefined, ...s.laterSteps]) {
          if (step !== undefined) apply(fleet, plain, step);
          for (const one of compiled) {
            const options = { ...s, excluded, avoid: new Set(s.avoid), chance: seededChance(s.seed) };
            const left = [...plain].filter(([, node]) => naiveFailures(node, one.need).size === 0);
            const fit = left.map(([id]) => id).filter((id) => !excluded.has(id));
            expect(drain(select(fleet, one, options)).sort()).toEqual(fit.sort());
            for (const [id, node] of plain) {
              const failed = naiveFailures(node, one.need);
              expect(failures(fleet, one, id)).toEqual(inOrder(failed));
              expect(matches(one, id)).toBe(failed.size === 0);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('agree on why no node is left, one reason per node', () => {
    fc.assert(
      fc.property(scene, (s) => {
        const fleet = createPooledFleet();
        const plain = new Map<string, PlainNode>();
        for (const step of s.steps) apply(fleet, plain, step);
        const excluded = new Set(s.excluded);
        for (const need of s.needs) {
          const expected = new Map<string, string[]>();
          const allFailed: Set<Rejection>[] = [];
          for (const [id, node] of plain) {
            const failed = naiveFailures(node, need);
            if (excluded.has(id)) failed.add('excluded');
            allFailed.push(failed);
            const first = inOrder(failed)[0] ?? 'eligible';
            expected.set(first, [...(expected.get(first) ?? []), id]);
          }
          const compiled = compileNeed(fleet, need);
          const answer = explain(fleet, compiled, excluded);
          const stage = answer.cause && stageOf(answer.cause.reason);
          expect(stage).toBe(plain.size === 0 ? undefined : emptyingStage(allFailed));
          expect(answer.total).toBe(plain.size);
          expect(answer.eligible).toBe(expected.get('eligible')?.length ?? 0);
          expected.delete('eligible');
          expect(answer.reasons.map(({ reason }) => reason)).toEqual(inOrder(expected.keys()));
          for (const { reason, count, sampleNodeIds } of answer.reasons) {
            expect(count).toBe(expected.get(reason)?.length);
            expect(new Set(sampleNodeIds).size).toBe(Math.min(5, count));
            expect(expected.get(reason)).toEqual(expect.arrayContaining([...sampleNodeIds]));
          }
          const counted = answer.reasons.reduce((sum, { count }) => sum + count, answer.eligible);
          expect(counted).toBe(answer.total);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('find nothing about a node that was never registered', () => {
    const fleet = createFleetView();
    const [need] = fc.sample(anyNeed, 1);
    const compiled = compileNeed(fleet, need as NonNullable<typeof need>);
    expect(failures(fleet, compiled, 'unknown-node')).toBeUndefined();
    expect(matches(compiled, 'unknown-node')).toBe(false);
    expect(explain(fleet, compiled, new Set(['unknown-node']))).toEqual({
      total: 0,
      eligible: 0,
      reasons: [],
      cause: undefined,
    });
  });

  it('find no capable node after the last one has left', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('other', { profile: { ...anyProfile, tts: ['de'] } }));
    fleet.upsert(nodeView('last'));
    const compiled = compileNeed(fleet, someNeed());
    const causeNow = () => explain(fleet, compiled, new Set()).cause?.reason;
    expect(causeNow()).toBeUndefined();
    fleet.setLoad('last', { used: 4, max: 4 });
    expect(causeNow()).toBe('capacity_exceeded');
    fleet.remove('last');
    const cause = { reason: 'tts_lang_unsupported', count: 1, sampleNodeIds: ['other'] };
    expect(explain(fleet, compiled, new Set())).toEqual({ total: 1, eligible: 0, reasons: [cause], cause });
  });
});
