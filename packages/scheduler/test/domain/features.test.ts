/** Features expand to modules with their dependencies (002 Phase 3, 004 §3.2.4). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expandFeatures,
  FEATURES,
  type FeatureModule,
  featuresProvidedBy,
} from '../../src/domain/features.ts';

const flags = [...FEATURES.keys()];

/** Any table over a few names, including circular dependencies. */
const anyTable = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.subarray(['a', 'b', 'c', 'd', 'asr', 'tts'])), {
    maxLength: 6,
  })
  .map(
    (rows) =>
      new Map<string, FeatureModule>(
        rows.map(([name, dependsOn]) => [name, { module: name, dependsOn, providers: [] }]),
      ),
  );

describe('features expand to modules with their dependencies', () => {
  it.each([
    ['emotion_detection', ['emotion_detection'], ['asr']],
    ['speaker_identification', ['speaker_identification'], []],
    ['voice_style_detection', ['speaker_identification', 'voice_style_detection'], []],
    ['speech_rate_detection', ['speech_rate_detection'], ['asr']],
    ['speech_rate_control', ['speech_rate_control', 'speech_rate_detection'], ['asr', 'tts']],
    ['persona_adaptation', ['persona_adaptation'], ['asr']],
  ])('%s', (flag, features, types) => {
    expect(expandFeatures([flag])).toEqual({ features, types });
  });

  it('to a set closed under dependencies, also with circular tables', () => {
    fc.assert(
      fc.property(anyTable, fc.subarray(['a', 'b', 'c', 'd', 'unheard_of']), (table, requested) => {
        const { features, types } = expandFeatures(requested, table);
        for (const flag of requested) expect(features.includes(flag)).toBe(table.has(flag));
        for (const feature of features) {
          for (const part of table.get(feature)?.dependsOn ?? []) {
            expect([...features, ...types]).toContain(part);
          }
        }
      }),
    );
  });

  it('to nothing that no requested feature depends on', () => {
    fc.assert(
      fc.property(anyTable, fc.subarray(['a', 'b', 'c', 'd']), (table, requested) => {
        const { features, types } = expandFeatures(requested, table);
        const named = features.flatMap((feature) => table.get(feature)?.dependsOn ?? []);
        for (const part of [...features, ...types]) expect([...requested, ...named]).toContain(part);
      }),
    );
  });

  it('to the same sorted list in any order, and repeatedly', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(flags), (requested) => {
        const expanded = expandFeatures(requested);
        expect(expandFeatures([...requested].sort())).toEqual(expanded);
        expect(expandFeatures(expanded.features)).toEqual(expanded);
        expect(expanded.features).toEqual([...new Set(expanded.features)].sort());
        expect(expanded.types).toEqual([...new Set(expanded.types)].sort());
      }),
    );
  });

  it('and unknown flags to nothing', () => {
    const nothing = { features: [], types: [] };
    for (const flag of ['asr', '__proto__', 'constructor', ''])
      expect(expandFeatures([flag])).toEqual(nothing);
  });

  it('each of which one service or model provides', () => {
    for (const [flag, { providers }] of FEATURES) {
      for (const provider of providers) {
        expect(featuresProvidedBy((id) => id === provider)).toEqual([flag]);
      }
    }
    expect(featuresProvidedBy(() => false)).toEqual([]);
  });
});
