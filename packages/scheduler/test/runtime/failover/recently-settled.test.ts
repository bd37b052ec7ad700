/** Recently settled jobs: kept as long as a failover may lose their outcome, within limits. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { createTimerWheel } from '../../../src/runtime/attempts/timer-wheel.ts';
import { createRecentlySettled } from '../../../src/runtime/takeover/recently-settled.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { RESULT } from '../rigs/rig.ts';

const job = (jobId: string, state = 'FINISHED', speech = 0) =>
  ({ jobId, state, result: { ...RESULT, ttsAudio: 'x'.repeat(speech) } }) as unknown as JobRecord;

function createKept(limits: { maxCount?: number; maxBytes?: number } = {}) {
  const clock = createManualClock();
  const wheel = createTimerWheel({ clock, tickMs: 20, onFault() {} });
  const recent = createRecentlySettled({
    clock,
    wheel,
    keepMs: 10_000,
    maxCount: limits.maxCount ?? 100,
    maxBytes: limits.maxBytes ?? 1_000_000,
  });
  return { clock, recent, ids: () => [...recent.all()].map(({ jobId }) => jobId) };
}

describe('recently settled jobs', () => {
  it('are kept once each, in their latest version, for keepMs', async () => {
    const { clock, recent, ids } = createKept();
    recent.note(job('a'));
    await clock.advance(4_000);
    recent.note(job('b'));
    recent.note(job('a', 'RELEASED'));
    expect([...recent.all()].map(({ state }) => state)).toEqual(['RELEASED', 'FINISHED']);
    await clock.advance(6_100);
    expect(ids()).toEqual(['b']);
    await clock.advance(4_000);
    expect(ids()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('drop the oldest by count and by bytes', () => {
    const few = createKept({ maxCount: 2 });
    for (const id of ['a', 'b', 'c']) few.recent.note(job(id));
    expect(few.ids()).toEqual(['b', 'c']);
    const small = createKept({ maxBytes: 25_000 });
    for (const id of ['a', 'b', 'c']) small.recent.note(job(id, 'FINISHED', 9_000));
    expect(small.ids()).toEqual(['b', 'c']);
    small.recent.forget('b');
    small.recent.note(job('d', 'FINISHED', 9_000));
    expect(small.ids()).toEqual(['c', 'd']);
  });

  it('are forgotten one by one, or all', async () => {
    const { clock, recent, ids } = createKept();
    for (const id of ['a', 'b', 'c']) recent.note(job(id));
    recent.forget('a');
    recent.forget('never-known');
    expect(ids()).toEqual(['b', 'c']);
    recent.clear();
    expect(ids()).toEqual([]);
    recent.note(job('d'));
    await clock.advance(10_100);
    expect(ids()).toEqual([]);
  });
});
