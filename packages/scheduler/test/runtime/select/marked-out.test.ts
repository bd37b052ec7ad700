/** MODEL_NOT_AVAILABLE in refusals: free nodes that are only marked are counted, as the plain rules count them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Need } from '../../../src/domain/need.ts';
import { refusal } from '../../../src/runtime/dispatch/refusal.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { markedOut } from '../../../src/runtime/select/marked-out.ts';
import { anyNeed, fleetSteps, nodeView, someNeed } from '../fleet/fleet-fixture.ts';
import { naiveFailures } from './naive-rules.ts';

const NO_EXCLUSIONS: ReadonlySet<string> = new Set();

function fleetOf(...views: ReturnType<typeof nodeView>[]) {
  const fleet = createFleetView();
  for (const view of views) {
    fleet.upsert(view);
    fleet.setLoad(view.nodeId, { used: 0, max: 4 });
  }
  const dispatch = (need: Need, excluded = NO_EXCLUSIONS) =>
    refusal(fleet, compileNeed(fleet, need), excluded);
  return { fleet, dispatch };
}

const MARKED = { markedServices: ['m2m'], markedTypes: ['nmt'] };

describe('MODEL_NOT_AVAILABLE: a refusal', () => {
  it('counts the marked nodes, names their missing models and the reason', () => {
    const { dispatch } = fleetOf(
      nodeView('a', MARKED),
      nodeView('b', { markedServices: ['nllb'], markedTypes: ['nmt'] }),
      nodeView('c', { isCordoned: true }),
    );
    const refused = dispatch(someNeed());
    expect(refused).toMatchObject({
      code: 'ALL_CANDIDATES_FULL_OR_FAILED',
      mainReason: 'model_not_available',
      isWaitUseful: true,
      isMarkedOut: true,
    });
    expect(refused.message).toMatch(
      /: 2 of 3 registered nodes could take it, but are without a required model: .*\. 2 nodes that could take it are left out for having reported a missing model: m2m, nllb\.$/,
    );
    expect(refused.reasons).toContainEqual({
      reason: 'model_not_available',
      count: 2,
      sampleNodeIds: ['a', 'b'],
    });
  });

  it('omits marks that exclude no node from the job', () => {
    const { dispatch, fleet } = fleetOf(nodeView('a', MARKED));
    expect(dispatch(someNeed({ usesNmt: false }))).not.toHaveProperty('isMarkedOut');
    expect(dispatch(someNeed(), new Set(['a']))).not.toHaveProperty('isMarkedOut');
    fleet.setLoad('a', { used: 4, max: 4 });
    const full = dispatch(someNeed());
    expect(full).not.toHaveProperty('isMarkedOut');
    expect(full.message).not.toContain('missing model');
  });

  it('names a service required by name or by a feature', () => {
    const profile = {
      ...nodeView('x').profile,
      installedServices: ['s1'],
      readyServices: ['s1'],
      features: ['emotion_detection'],
    };
    const marked = nodeView('a', { profile, markedServices: ['emotion-xlm-r', 's1'] });
    const { dispatch } = fleetOf(marked);
    for (const need of [someNeed({ services: ['s1'] }), someNeed({ features: ['emotion_detection'] })])
      expect(dispatch(need)).toMatchObject({ isMarkedOut: true, mainReason: 'model_not_available' });
    expect(dispatch(someNeed())).not.toHaveProperty('isMarkedOut');
  });

  it('a node is free again when the mark on its type ends', () => {
    const { fleet } = fleetOf(nodeView('a', MARKED));
    const compiled = compileNeed(fleet, someNeed());
    const reported: string[] = [];
    fleet.onFree((nodeId) => reported.push(nodeId));
    expect(matches(compiled, 'a')).toBe(false);
    fleet.upsert(nodeView('a', { ...MARKED, markedTypes: [] }));
    expect(matches(compiled, 'a')).toBe(true);
    expect(reported).toEqual(['a']);
  });

  it('finds exactly the nodes that only marks exclude', () => {
    fc.assert(
      fc.property(fleetSteps(12, 30), anyNeed, (steps, anyPooled) => {
        const { poolIds: _, ...need } = anyPooled as Need & { poolIds?: unknown };
        const fleet = createFleetView();
        const plain = new Map<string, Parameters<typeof naiveFailures>[0]>();
        for (const step of steps) {
          if (step.kind === 'upsert') {
            fleet.upsert(step.view);
            const load = plain.get(step.view.nodeId);
            const isSameSlots = load?.view.slots === step.view.slots;
            const max = load === undefined || !isSameSlots ? step.view.slots : load.load.max;
            plain.set(step.view.nodeId, { view: step.view, load: { used: load?.load.used ?? 0, max } });
          } else if (step.kind === 'remove') {
            fleet.remove(step.nodeId);
            plain.delete(step.nodeId);
          } else {
            const known = plain.get(step.nodeId);
            if (known === undefined) continue;
            fleet.setLoad(step.nodeId, { used: step.used, max: step.max });
            plain.set(step.nodeId, { ...known, load: { used: step.used, max: step.max } });
          }
        }
        const unmarked = { markedServices: [], markedTypes: [] };
        const expected = [...plain.values()].filter(
          (node) =>
            naiveFailures(node, need).size > 0 &&
            naiveFailures({ ...node, view: { ...node.view, ...unmarked } }, need).size === 0,
        );
        const compiled = compileNeed(fleet, need);
        expect(markedOut(fleet, compiled, NO_EXCLUSIONS)?.count ?? 0).toBe(expected.length);
        for (const { view } of expected) expect(matches(compiled, view.nodeId)).toBe(false);
      }),
    );
  });
});
