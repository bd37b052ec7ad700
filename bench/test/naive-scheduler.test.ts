/** The baseline is slow by design, not by mistake: its decisions must be correct. */
import { describe, expect, it } from 'vitest';
import { createNaiveScheduler } from '../src/contest/naive-scheduler.ts';

const registration = (nodeId: string, slots: number, languages: readonly string[]) => ({
  nodeId,
  credential: 'bench',
  channel: 'socket' as const,
  slots,
  traits: { features: [], gpuCount: 1, supports: [] },
  report: {
    models: [],
    services: [],
    types: ['asr', 'nmt', 'tts', 'semantic'].map((type) => ({ type, isReady: true })),
    languages: {
      asr: [...languages],
      tts: [...languages],
      semantic: [...languages],
      translations: [
        { languages: [...languages], rule: 'any_to_any' as const, blockedPairs: [], supportedPairs: [] },
      ],
    },
  },
});

function createTwo() {
  let now = 0;
  const nodes = [registration('node-a', 2, ['en', 'zh']), registration('node-b', 2, ['en', 'ja'])];
  const scheduler = createNaiveScheduler(
    nodes,
    () => now,
    () => 0,
  );
  return {
    scheduler,
    passes(ms: number) {
      now += ms;
    },
  };
}

describe('the naive scheduler', () => {
  it('takes a node with both languages and a free slot, and none when all are full', () => {
    const { scheduler } = createTwo();
    expect(scheduler.dispatch('1', 'en', 'ja')).toBe('node-b');
    expect(scheduler.dispatch('2', 'en', 'ja')).toBe('node-b');
    expect(scheduler.dispatch('3', 'en', 'ja')).toBeUndefined();
    scheduler.finish('1');
    expect(scheduler.dispatch('3', 'en', 'ja')).toBe('node-b');
    expect(scheduler.dispatch('4', 'zh', 'ja')).toBeUndefined();
  });

  it('takes the node with the fewest jobs', () => {
    const nodes = [registration('node-a', 9, ['en', 'zh']), registration('node-b', 9, ['en', 'zh'])];
    const scheduler = createNaiveScheduler(
      nodes,
      () => 0,
      () => 0,
    );
    expect(['1', '2', '3', '4'].map((job) => scheduler.dispatch(job, 'en', 'zh'))).toEqual([
      'node-a',
      'node-b',
      'node-a',
      'node-b',
    ]);
  });

  it('skips nodes without a recent heartbeat', () => {
    const { scheduler, passes } = createTwo();
    passes(60_000);
    expect(scheduler.dispatch('1', 'en', 'zh')).toBeUndefined();
    scheduler.heartbeat(0);
    expect(scheduler.dispatch('1', 'en', 'zh')).toBe('node-a');
  });

  it('shows the state of the last heartbeat', () => {
    const { scheduler } = createTwo();
    scheduler.dispatch('1', 'en', 'zh');
    expect(scheduler.world().map(({ running }) => running)).toEqual([0, 0]);
    scheduler.heartbeat(1);
    expect(scheduler.world().map(({ running }) => running)).toEqual([1, 0]);
  });
});
