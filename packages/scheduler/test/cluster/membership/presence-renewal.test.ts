/** Every membership read renews the instance's own presence, so that it sees soon that it was declared dead. */
import { describe, expect, it } from 'vitest';
import { SETTINGS, startPresences } from './presence-rig.ts';

describe('a membership read', () => {
  it('costs one renewal and no read of our own presence', async () => {
    const rig = startPresences();
    const [a, b] = [rig.join('a'), rig.join('b')];
    for (const { presence } of [a, b]) await presence.start();
    const requested = { renew: 0, living: 0, all: 0 };
    const store = rig.store();
    for (const name of ['renew', 'living', 'all'] as const) {
      const call = store[name] as (...given: unknown[]) => unknown;
      store[name] = ((...given: unknown[]) => {
        requested[name] += 1;
        return call(...given);
      }) as never;
    }
    await rig.clock.advance(60_000);
    expect(requested.renew).toBe(requested.all);
    // Each instance was new to the other once.
    expect(requested.living).toBeLessThanOrEqual(requested.all + 2);
    expect(requested.all).toBeLessThanOrEqual(2 * (60_000 / (0.8 * SETTINGS.viewMs)) + 2);
  });

  it('shows the others although our own presence cannot be renewed', async () => {
    const rig = startPresences();
    const [a, b] = [rig.join('a'), rig.join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await rig.clock.advance(10_000);
    const store = rig.store();
    const { renew } = store;
    store.renew = (self, ...rest) =>
      self.instanceId === 'a' ? Promise.reject(new Error('that shard is away')) : renew(self, ...rest);
    await rig.clock.advance(SETTINGS.viewMs + 1);
    expect([...(await a.presence.living()).keys()].sort()).toEqual(['a', 'b']);
    await rig.clock.advance(SETTINGS.ttlMs);
    expect(a.presence.isFenced()).toBe(true);
    expect([...(await a.presence.living()).keys()]).toEqual(['b']);
    store.renew = renew;
    await rig.clock.advance(SETTINGS.intervalMs);
    expect(a.presence.isFenced()).toBe(false);
  });

  it('is repeated soon when its renewal failed', async () => {
    const LONGEST_MS = 800;
    for (let phaseMs = 0; phaseMs < SETTINGS.intervalMs; phaseMs += 100) {
      const rig = startPresences();
      const [a, b] = [rig.join('a'), rig.join('b')];
      for (const { presence } of [a, b]) await presence.start();
      await rig.clock.advance(10_000 + phaseMs);
      const store = rig.store();
      const { renew } = store;
      const tried: number[] = [];
      store.renew = (self, ...rest) => {
        if (self.instanceId !== 'a') return renew(self, ...rest);
        tried.push(rig.clock.now());
        // As long as a call may hang before its timeout.
        return new Promise((_, reject) => rig.clock.after(LONGEST_MS, () => reject(new Error('no answer'))));
      };
      await rig.clock.advance(SETTINGS.ttlMs);
      const apart = tried.slice(1).map((at, index) => at - (tried[index] ?? 0));
      expect(Math.max(...apart), `${phaseMs}`).toBeLessThanOrEqual(LONGEST_MS + SETTINGS.intervalMs / 4);
    }
  });
});
