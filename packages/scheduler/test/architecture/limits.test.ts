/** I11: every limit has a metric. A setting that limits something says in the metrics table where that shows, or here why it cannot. */
import { describe, expect, it } from 'vitest';
import { settingsByKey } from '../../src/config/settings.ts';
import { METRICS, type MetricEntry } from '../../src/domain/metrics.ts';

/** Settings that sound like limits and have no level: nothing gathers below them. */
const NO_LIMITS: Readonly<Record<string, string>> = {
  'scheduler.ejection.max_ms': 'how long a node stays out',
  'scheduler.result_gap_max_ms': 'how long a result waits for an earlier one',
  'scheduler.web_task_segmentation.playback_max_ms': 'how long playback is believed',
  'scheduler.utterance_group.max_parts': 'where the next group begins',
  'scheduler.utterance_group.max_chars': 'where the context of one job is cut',
  'scheduler.audio.inline_max_bytes': 'from which size on audio goes by reference',
  'scheduler.node_health.flap_max_checks': 'how many checks a node has to pass',
};

const shown = Object.values<MetricEntry>(METRICS).flatMap(({ limits = [] }) => limits);
const limits = [...settingsByKey.keys()].filter((key) => /(^|_)max/.test(key.split('.').at(-1) ?? ''));

describe('I11 bounded: the limits among the settings', () => {
  it('each show in a metric', () => {
    const known = new Set([...shown, ...Object.keys(NO_LIMITS)]);
    expect(limits.filter((key) => !known.has(key))).toEqual([]);
  });

  it('are settings that exist, each named once', () => {
    const named = [...shown, ...Object.keys(NO_LIMITS)];
    expect(named.filter((key) => !settingsByKey.has(key))).toEqual([]);
    expect(named.filter((key, at) => named.indexOf(key) !== at)).toEqual([]);
  });
});
