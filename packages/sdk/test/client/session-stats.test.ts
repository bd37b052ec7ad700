/** What a session measures about itself. */
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/client/session-events.ts';
import { createStatsCollector } from '../../src/client/session-stats.ts';

const resultOf = (requestId: string, message: object = {}) =>
  ({ type: 'result', requestId, message }) as unknown as SessionEvent;

describe('the stats of a session', () => {
  it('count outcomes, connections and refused audio', () => {
    const stats = createStatsCollector();
    stats.note({ type: 'open', sessionId: 's', resumed: false }, 0);
    stats.ended('r1', 0);
    stats.ended('r2', 0);
    stats.note(resultOf('r1'), 10);
    stats.note({ type: 'missing', requestId: 'r2' } as SessionEvent, 10);
    stats.note({ type: 'open', sessionId: 's', resumed: true }, 20);
    stats.note({ type: 'open', sessionId: 't', resumed: false }, 30);
    stats.note({ type: 'overflow', refusedBytes: 7, keptBytes: 1, limitBytes: 1 }, 30);
    expect(stats.read()).toMatchObject({
      utterances: 2,
      results: 1,
      missing: 1,
      reconnects: 2,
      resumes: 1,
      refusedBytes: 7,
    });
  });

  it('split the latency of an utterance into its parts', () => {
    const stats = createStatsCollector();
    for (let each = 1; each <= 100; each += 1) {
      stats.ended(`r${each}`, 1_000);
      const message = {
        service_timings: { asr_ms: 5, nmt_ms: 'unknown' },
        network_timings: { web_to_scheduler_ms: -3, scheduler_to_node_ms: 2 },
      };
      stats.note(resultOf(`r${each}`, message), 1_000 + each);
    }
    expect(stats.read().latency).toEqual({
      total: { count: 100, p50Ms: 51, p99Ms: 100 },
      asr: { count: 100, p50Ms: 5, p99Ms: 5 },
      toScheduler: { count: 100, p50Ms: 0, p99Ms: 0 },
      toNode: { count: 100, p50Ms: 2, p99Ms: 2 },
    });
  });

  it('keep the last utterances only', () => {
    const stats = createStatsCollector();
    for (let each = 0; each < 2_000; each += 1) {
      stats.ended(`unsettled ${each}`, 0);
      stats.ended(`r${each}`, 0);
      stats.note(resultOf(`r${each}`), each);
    }
    expect(stats.read().latency.total).toEqual({ count: 200, p50Ms: 1_900, p99Ms: 1_998 });
    stats.note(resultOf('unsettled 0'), 9_000);
    expect(stats.read().latency.total?.p99Ms).toBe(1_998);
  });
});
