/** Point 1, requirements: features in selection. */
import { describe, expect, it } from 'vitest';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { anyProfile, nodeView, someNeed } from '../fleet/fleet-fixture.ts';

describe('features', () => {
  it('distinguish two needs that are otherwise equal', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('n', { profile: { ...anyProfile, features: ['emotion_detection'] } }));
    const fits = (...features: string[]) => matches(compileNeed(fleet, someNeed({ features })), 'n');
    expect([fits(), fits('emotion_detection'), fits('persona_adaptation')]).toEqual([true, true, false]);
    expect([fits('emotion_detection', 'persona_adaptation'), fits('emotion_detection')]).toEqual([
      false,
      true,
    ]);
    // A service may have the name of a feature; requiring it is different.
    const service = someNeed({ services: ['emotion_detection'] });
    expect(matches(compileNeed(fleet, service), 'n')).toBe(false);
  });

  it('that no job can require cost the fleet nothing', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('a'));
    const { facts } = fleet.stats();
    const features = Array.from({ length: 1_000 }, (_, n) => `invented_${n}`);
    fleet.upsert(nodeView('b', { profile: { ...anyProfile, features } }));
    expect(fleet.stats().facts).toBe(facts);
  });
});
