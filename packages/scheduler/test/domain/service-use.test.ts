/** MODEL_NOT_AVAILABLE: what a job uses of a node is what selection requires of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useOf } from '../../src/domain/service-use.ts';
import { markKeys, requiredTypes } from '../../src/runtime/select/clauses.ts';
import { anyNeed, someNeed } from '../runtime/fleet/fleet-fixture.ts';

it('a job uses the types and services whose marks exclude a node', () => {
  fc.assert(
    fc.property(anyNeed, (need) => {
      const { types, services } = useOf(need);
      expect(new Set(types)).toEqual(new Set(requiredTypes(need)));
      const marks = [...types.map((type) => `marked_type:${type}`), ...services.map((id) => `marked:${id}`)];
      expect(new Set(marks)).toEqual(new Set(markKeys(need)));
    }),
  );
});

it('jobs that need stages only share one object', () => {
  expect(useOf(someNeed())).toBe(useOf(someNeed({ sessionId: 'other' })));
  expect(useOf(someNeed()).types).toEqual(['semantic', 'asr', 'nmt', 'tts']);
  expect(useOf(someNeed({ usesTts: false }))).not.toBe(useOf(someNeed()));
});
