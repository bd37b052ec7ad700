/** Recent writes: kept as long as a failover may lose them, within limits of count and bytes. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { createTimerWheel } from '../../../src/runtime/attempts/timer-wheel.ts';
import { createRecentWrites } from '../../../src/runtime/takeover/recent-writes.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { RESULT } from '../rigs/rig.ts';

const job = (jobId: string, state = 'FINISHED', speech = 0) =>
  ({ jobId, state, result: { ...RESULT, ttsAudio: 'x'.repeat(speech) } }) as unknown as JobRecord;

function createKept({ maxCount = 100, maxBytes = 1_000_000 } = {}) {
  const clock = createManualClock();
  const wheel = createTimerWheel({ clock, tickMs: 20, onFault() {} });
  const recent = createRecentWrites({ clock, wheel, keepMs: 10_000, maxCount, maxBytes });
  return {
    clock,
    recent,
    ids: () => recent.all().settled.map(({ jobId }) => jobId),
    leases: () => recent.all().released.map(({ lease }) => lease),
  };
}

describe('recently settled jobs', () => {
  it('are kept once each, in their latest version, for keepMs', async () => {
    const { clock, recent, ids } = createKept();
    recent.settled(job('a'));
    await clock.advance(4_000);
    recent.settled(job('b'));
    recent.settled(job('a', 'RELEASED'));
    expect(recent.all().settled.map(({ state }) => state)).toEqual(['RELEASED', 'FINISHED']);
    await clock.advance(6_100);
    expect(ids()).toEqual(['b']);
    await clock.advance(4_000);
    expect(ids()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it('drop the oldest by count and by bytes', () => {
    const few = createKept({ maxCount: 2 });
    for (const id of ['a', 'b', 'c']) few.recent.settled(job(id));
    expect(few.ids()).toEqual(['b', 'c']);
    const small = createKept({ maxBytes: 25_000 });
    for (const id of ['a', 'b', 'c']) small.recent.settled(job(id, 'FINISHED', 9_000));
    expect(small.ids()).toEqual(['b', 'c']);
    small.recent.forget('b');
    small.recent.settled(job('d', 'FINISHED', 9_000));
    expect(small.ids()).toEqual(['c', 'd']);
  });

  it('are forgotten one by one, or all', async () => {
    const { clock, recent, ids } = createKept();
    for (const id of ['a', 'b', 'c']) recent.settled(job(id));
    recent.forget('a');
    recent.forget('never-known');
    expect(ids()).toEqual(['b', 'c']);
    recent.clear();
    expect(ids()).toEqual([]);
    recent.settled(job('d'));
    await clock.advance(10_100);
    expect(ids()).toEqual([]);
  });
});

describe('recently released leases', () => {
  it('are remembered for at least keepMs and less than twice that', async () => {
    const { clock, recent, leases } = createKept();
    await clock.advance(9_000);
    recent.released('node-a', 'a:1');
    await clock.advance(2_000);
    recent.released('node-b', 'b:1');
    recent.released('node-b', 'b:1');
    expect(recent.all().released).toEqual([
      { lease: 'a:1', nodeId: 'node-a' },
      { lease: 'b:1', nodeId: 'node-b' },
    ]);
    await clock.advance(9_900);
    expect(leases()).toEqual(['a:1', 'b:1']);
    await clock.advance(1_000);
    expect(leases()).toEqual(['b:1']);
    await clock.advance(20_000);
    expect(leases()).toEqual([]);
  });

  it('drop the oldest ones at the limit', () => {
    const { recent, leases } = createKept({ maxCount: 4 });
    for (const lease of ['a', 'b', 'c', 'd', 'e']) recent.released('node-a', lease);
    expect(leases()).toEqual(['c', 'd', 'e']);
    recent.clear();
    expect(leases()).toEqual([]);
  });
});
