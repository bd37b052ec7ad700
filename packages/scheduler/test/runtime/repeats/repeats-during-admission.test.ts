/** Repeats of requests that this instance is still admitting or withdrawing. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { createRig, RESULT, type RigOptions } from '../rigs/rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

interface AloneOptions extends Pick<RigOptions, 'wrapLedger'> {
  /** How long a claim takes. */
  readonly claimMs?: number;
}

/** Every claim succeeds: no other instance lives. */
function createAlone({ claimMs = 0, wrapLedger }: AloneOptions = {}) {
  const claimed: string[] = [];
  const drivers: JobDrivers = {
    async claim(job) {
      claimed.push(job.jobId);
      if (claimMs > 0) await new Promise<void>((resolve) => rig.clock.after(claimMs, resolve));
      return { kind: 'ours', job };
    },
    placingResult: async () => undefined,
    offerAudio() {},
  };
  let store: Faulty<JobStore> | undefined;
  const rig = createRig({
    drivers,
    ...(wrapLedger === undefined ? {} : { wrapLedger }),
    wrapStore(inner, clock) {
      store = faulty(inner, [], clock);
      return store.port;
    },
  });
  if (store === undefined) throw new Error('the rig wraps its store when it is made');
  return { rig, store, claimed };
}

describe('a repeat on the same instance', () => {
  it('is refused while the first request is withdrawn', async () => {
    const { rig, store, claimed } = createAlone();
    await rig.addNode('node-a', 2);
    store.plan(
      { method: 'admit', at: [1], fault: 'throw_after_effect' },
      { method: 'discard', at: [1, 2], fault: 'throw' },
    );
    const first = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(500);
    expect(rig.refusal(await first).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    const again = await rig.service.dispatch(rig.request(SAME));
    expect(rig.refusal(again).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(claimed).toEqual([]);
    await rig.clock.advance(3_000);
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('dispatched');
    expect(rig.service.inFlight()).toBe(1);
  });

  it('is refused while the slot of the first request is released', async () => {
    const { rig, store, claimed } = createAlone({
      wrapLedger: (ledger, clock) =>
        faulty(ledger, { method: 'release', fault: { delayMs: 100 } }, clock).port,
    });
    await rig.addNode('node-a', 1);
    store.plan({ method: 'admit', at: [1], fault: 'throw_after_effect' });
    const first = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    const again = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(500);
    expect([(await first).kind, (await again).kind]).toEqual(['refused', 'refused']);
    expect(claimed).toEqual([]);
  });

  it('is refused when the first is withdrawn during its claim', async () => {
    const { rig, store, claimed } = createAlone({ claimMs: 5 });
    await rig.addNode('node-a', 2);
    store.plan({ method: 'admit', at: [1], fault: 'throw_after_effect' });
    const first = rig.service.dispatch(rig.request(SAME));
    const again = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    expect([(await first).kind, (await again).kind]).toEqual(['refused', 'refused']);
    expect(claimed).toHaveLength(1);
    expect([rig.service.inFlight(), rig.audio.size()]).toEqual([0, 0]);
    await rig.clock.advance(5_000);
    expect(rig.clock.pending()).toBe(0);
  });

  it('shares one in-flight job with the first request', async () => {
    const { rig, store, claimed } = createAlone();
    await rig.addNode('node-a', 1);
    await rig.addNode('node-b', 1);
    store.plan({ method: 'admit', at: [1], fault: { answerDelayMs: 50 } });
    const first = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    const again = await rig.service.dispatch(rig.request(SAME));
    expect(again).toMatchObject({ kind: 'dispatched', isRepeat: true });
    expect(claimed).toHaveLength(1);
    await rig.clock.advance(100);
    expect(await first).toMatchObject({ kind: 'dispatched', isRepeat: true });
    expect(rig.service.inFlight()).toBe(1);
    await rig.clock.advance(3_100);
    const [jobId = ''] = claimed;
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    await rig.clock.advance(100_000);
    expect([rig.service.inFlight(), rig.audio.size(), rig.clock.pending()]).toEqual([0, 0, 0]);
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([0, 0]);
  });
});
