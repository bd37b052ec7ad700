/** I6: no synchronous slice of cold work is long, also not for the largest report that is taken. */
import { describe, expect, it } from 'vitest';
import type { CapabilityReport, ReportedTranslation } from '../../src/domain/capability-report.ts';
import type { Direction } from '../../src/domain/language.ts';
import { understand } from '../../src/management/registration/profile.ts';
import { excessOf, excessOfPairs, MAX_PAIRS } from '../../src/management/registration/report-limits.ts';

const RULES = { assumeAnyLanguage: true, coreServices: {} };
const TRAITS = { features: [], gpuCount: 1, acceptsPublicJobs: true };

const languages = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `l${from + index}`);
const pairs = (count: number): Direction[] =>
  Array.from({ length: count }, (_, index) => ({
    source: `l${index % 500}`,
    target: `l${(index * 13) % 499}`,
  }));
const model = (names: string[], blockedPairs: Direction[] = []): ReportedTranslation => ({
  languages: names,
  rule: 'any_to_any',
  blockedPairs,
  supportedPairs: [],
});

const REPORTS: Readonly<Record<string, CapabilityReport>> = {
  'four models of 500 languages': {
    models: [],
    languages: { translations: [0, 3, 6, 9].map((from) => model(languages(500, from))) },
  },
  'as many pairs as are taken': { models: [], languages: { pairs: pairs(MAX_PAIRS) } },
  'as many blocked pairs as are taken': {
    models: [],
    languages: { translations: [model(languages(500), pairs(MAX_PAIRS))] },
  },
  'a thousand models of one pair each': {
    models: pairs(1_024).map(({ source, target }, index) => ({
      modelId: `m${index}`,
      kind: 'nmt',
      isEnabled: true,
      sourceLanguage: source,
      targetLanguage: target,
    })),
  },
};

/** Machines differ, and are shared: what it takes to read these pairs from their text is the measure. About a millisecond of a core, whatever reports may hold. */
const MILLISECOND = JSON.stringify(pairs(4_096));
const MOST_MS = 5;

function timed(act: () => void): number {
  const startedAt = performance.now();
  act();
  return performance.now() - startedAt;
}

describe('I6 hot path: a report is understood within about 5 ms', () => {
  it.each(Object.entries(REPORTS))('with %s', (_, report) => {
    let [understanding, reading] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    // The quickest of many, in turns: other programs on the machine must not fail the test.
    for (let run = 0; run < 40; run += 1) {
      const act = (): void => {
        expect(excessOf(report)).toBeUndefined();
        expect(excessOfPairs(understand(report, TRAITS, RULES))).toBeUndefined();
      };
      understanding = Math.min(understanding, timed(act));
      reading = Math.min(
        reading,
        timed(() => JSON.parse(MILLISECOND)),
      );
    }
    expect(understanding / reading).toBeLessThan(MOST_MS);
  });
});
