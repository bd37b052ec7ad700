/** The largest reports of capabilities that are accepted: how long one keeps the event loop from dispatching. */
import type {
  CapabilityReport,
  ReportedTranslation,
} from '../../packages/scheduler/dist/domain/capability-report.js';
import type { Direction } from '../../packages/scheduler/dist/domain/language.js';
import { understand } from '../../packages/scheduler/dist/management/registration/profile.js';
import {
  excessOf,
  excessOfPairs,
  MAX_PAIRS,
} from '../../packages/scheduler/dist/management/registration/report-limits.js';
import { cpuMicros, type Figure } from './measure.ts';

const RULES = { assumeAnyLanguage: true, coreServices: {} };
const TRAITS = { features: [], gpuCount: 1 };

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

const RUNS = 40;
/** No synchronous part of the work outside a dispatch is longer. */
const MOST_MS = 5;

/** The quickest of many runs: other programs use the machine, too. */
function quickest(report: CapabilityReport): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const begunAt = cpuMicros();
    const excess = excessOf(report) ?? excessOfPairs(understand(report, TRAITS, RULES));
    if (excess !== undefined) throw new Error('the report is refused');
    least = Math.min(least, cpuMicros() - begunAt);
  }
  return least / 1_000;
}

export const largestReports = (): Figure[] =>
  Object.entries(REPORTS).map(([name, report]) => ({
    scenario: 'heartbeats',
    name: `CPU to read a report: ${name}`,
    value: quickest(report),
    unit: 'ms',
    target: { atMost: MOST_MS },
  }));
