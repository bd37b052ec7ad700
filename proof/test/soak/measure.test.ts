/**
 * What a soak measures: levels from metrics, kinds of keys, series that begin late, and whether everything returned to its level
 * before the load.
 */
import { describe, expect, it } from 'vitest';
import { createKeys } from '../../../packages/scheduler/src/adapters/redis/keys.ts';
import type { JobId, NodeId, SessionId } from '../../../packages/scheduler/src/domain/ids.ts';
import { createBaseline } from '../../src/soak/judge/quiet.ts';
import { levelsOf } from '../../src/soak/measure/read-metrics.ts';
import { createKindOf, UNLISTED } from '../../src/soak/measure/redis-figures.ts';
import { createAlbum, KEYS, LEVELS, type Seen } from '../../src/soak/measure/sampler.ts';
import { keysOf, levelOf } from '../../src/soak/measure/series.ts';

it('levels are gauges, summed over labels; counters, ages and limits are not', () => {
  const text = `# HELP scheduler_sessions Sessions.
# TYPE scheduler_sessions gauge
scheduler_sessions{state="connected"} 3
scheduler_sessions{state="resumable"} 2
# TYPE scheduler_jobs_total counter
scheduler_jobs_total 900
# TYPE scheduler_limit gauge
scheduler_limit{setting="session.max_sessions"} 5000
# TYPE scheduler_dashboard_snapshot_age_seconds gauge
scheduler_dashboard_snapshot_age_seconds 4.5
# TYPE scheduler_audio_store_bytes gauge
scheduler_audio_store_bytes 1e+06
`;
  expect([...levelsOf(text)]).toEqual([
    ['scheduler_sessions', 5],
    ['scheduler_audio_store_bytes', 1_000_000],
  ]);
});

it('a key has the kind of its entry in the list of keys', () => {
  const keys = createKeys('soak');
  const kindOf = createKindOf('soak');
  expect(kindOf(keys.schema)).toBe('schema');
  expect(kindOf(keys.nodeMeta('node-1:x' as NodeId))).toBe('nodeMeta');
  expect(kindOf(keys.nodeLeases('node-1' as NodeId))).toBe('nodeLeases');
  expect(kindOf(keys.nodeLeaseMarks('node-1' as NodeId))).toBe('nodeLeaseMarks');
  expect(kindOf(keys.job('abc'))).toBe('job');
  expect(kindOf(keys.earlierJob('abc', 'job-1' as JobId))).toBe('earlierJob');
  expect(kindOf(keys.sessionState('s' as SessionId))).toBe('sessionState');
  expect(kindOf(keys.nodesSeen(3))).toBe('nodesSeen');
  expect(kindOf(keys.inbox('i-1'))).toBe('inbox');
  expect(kindOf('soak:v1:scratch:1')).toBe(UNLISTED);
  expect(kindOf('other:schema')).toBe(UNLISTED);
});

const keysSeen = (name: string, value: number): Seen => ({ group: KEYS, name, kind: keysOf(name), value });
const level = (name: string, value: number): Seen => ({ group: LEVELS, name, kind: levelOf(name), value });

it('a kind of key that is absent at a count has the value 0', () => {
  const album = createAlbum(performance.now());
  album.add([keysSeen('job', 5)], true);
  album.add([], false);
  album.add([keysSeen('sessionState', 2)], true);
  const values = album.series().map(({ name, points }) => [name, points.map(({ value }) => value)]);
  expect(values).toEqual([
    ['job', [5, 0]],
    ['sessionState', [0, 2]],
  ]);
  expect(album.samples()).toBe(3);
});

describe('after the load', () => {
  function baselineOf() {
    const baseline = createBaseline();
    baseline.add([keysSeen('nodeMeta', 6), level('scheduler_http_waits', 1)]);
    baseline.add([keysSeen('nodeMeta', 5), level('scheduler_http_waits', 0)]);
    return baseline;
  }

  it('nothing is left if no level is higher than before', () => {
    const now = [keysSeen('nodeMeta', 6), level('scheduler_http_waits', 2), keysSeen('lock', 3)];
    expect(baselineOf().leftIn(now)).toEqual([]);
  });

  it('a level that is higher than before is named', () => {
    const now = [keysSeen('nodeMeta', 7), keysSeen('sessionOwner', 1), level('scheduler_http_waits', 3)];
    expect(baselineOf().leftIn(now)).toEqual([
      { group: KEYS, name: 'nodeMeta', before: 6, now: 7 },
      { group: KEYS, name: 'sessionOwner', before: 0, now: 1 },
      { group: LEVELS, name: 'scheduler_http_waits', before: 1, now: 3 },
    ]);
  });

  it('a level that returned once may rise again', () => {
    const baseline = baselineOf();
    expect(baseline.leftIn([level('scheduler_http_waits', 3), keysSeen('job', 2)])).toHaveLength(2);
    expect(baseline.leftIn([level('scheduler_http_waits', 2), keysSeen('job', 1)])).toHaveLength(1);
    expect(baseline.leftIn([level('scheduler_http_waits', 3), keysSeen('job', 1)])).toEqual([
      { group: KEYS, name: 'job', before: 0, now: 1 },
    ]);
  });
});
