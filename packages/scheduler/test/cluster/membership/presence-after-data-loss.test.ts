/** Presence when the store loses data, restores old data, or is away for long: no living instance is declared dead. */
import { describe, expect, it } from 'vitest';
import { DEATH_REMEMBERED_MS } from '../../../src/ports/instances.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

async function startThree() {
  const rig = startPresences();
  const [a, b, c] = [rig.join('a'), rig.join('b'), rig.join('c')];
  const all = [a, b, c];
  for (const { presence } of all) await presence.start();
  await rig.clock.advance(10_000);
  return { ...rig, a, b, c, all };
}

describe('presence on a store that loses data', () => {
  it('an emptied store keeps the incarnation and fires `emptied` once', async () => {
    const { clock, store, empty, all } = await startThree();
    empty();
    await clock.advance(2 * SETTINGS.intervalMs);
    for (const { received, presence } of all) {
      expect(received).toEqual({ lost: 0, reincarnated: 0, emptied: 1, died: [], fencedWhenEmptied: false });
      expect(presence.self().incarnation).toMatch(/-1$/);
    }
    expect([...(await store().living(['a', 'b', 'c'])).keys()]).toEqual(['a', 'b', 'c']);
    await clock.advance(60_000);
    for (const { received } of all)
      expect(received).toMatchObject({ lost: 0, reincarnated: 0, emptied: 1, died: [] });
  });

  it('a membership read renews our own presence exactly once', async () => {
    const { clock, empty, all, a } = await startThree();
    empty();
    for (let requested = 0; requested < 4; requested += 1) {
      void a.presence.living('nobody');
      await clock.advance(SETTINGS.viewMs / 10);
    }
    expect(all.map(({ received }) => received.emptied)).toEqual([1, 0, 0]);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(all.map(({ received }) => received.emptied)).toEqual([1, 1, 1]);
  });

  it('after a flush, instances are declared dead only after two TTLs', async () => {
    const { clock, store, empty, a, b } = await startThree();
    empty();
    b.connection.isCut = true;
    // Only the name survived, as it may when it is on another server.
    await store().announce({ ...b.presence.self() }, 1);
    await clock.advance(2 * SETTINGS.ttlMs - 1);
    expect(a.received.died).toEqual([]);
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('an outage that ends every presence declares no instance dead', async () => {
    const { clock, all } = await startThree();
    for (const { connection } of all) connection.isCut = true;
    await clock.advance(30_000);
    for (const { presence } of all) expect(presence.isFenced()).toBe(true);
    for (const { connection } of all) connection.isCut = false;
    await clock.advance(30_000);
    for (const { received, presence } of all) {
      expect(received).toEqual({ lost: 0, reincarnated: 0, emptied: 1, died: [], fencedWhenEmptied: false });
      expect(presence.isFenced()).toBe(false);
    }
  });

  it('is lost when another incarnation took its name after data loss', async () => {
    const { clock, store, empty, a } = await startThree();
    empty();
    await store().announce({ ...a.presence.self(), incarnation: 'usurper' }, 5_000);
    await clock.advance(SETTINGS.intervalMs);
    expect(a.received).toMatchObject({ lost: 1, emptied: 0 });
    // It is fenced until it has the name again, even though its last renewal is recent.
    expect(a.presence.isFenced()).toBe(true);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(a.presence.isFenced()).toBe(false);
    expect(a.presence.self().incarnation).toBe('a-2');
    expect(a.received.lost).toBe(1);
  });

  it('fires `lost` once although the store fails before the restart', async () => {
    const { clock, store, a } = await startThree();
    a.connection.isCut = true;
    await clock.advance(2 * SETTINGS.ttlMs);
    await store().declareDead('a');
    // It reads that it is dead, and then the store goes away.
    const { announce } = store();
    let refusals = 2;
    store().announce = (...args) =>
      refusals-- > 0 ? Promise.reject(new Error('away again')) : announce(...args);
    a.connection.isCut = false;
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.received.lost).toBe(1);
    expect(a.presence.isFenced()).toBe(false);
  });

  it('starts one new incarnation although two timers find the loss', async () => {
    const { clock, store, empty, a } = await startThree();
    empty();
    const { announce } = store();
    await announce({ ...a.presence.self(), incarnation: 'usurper' }, SETTINGS.viewMs);
    store().announce = async (...args) => {
      await new Promise<void>((resolve) => clock.after(2 * SETTINGS.intervalMs, resolve));
      return announce(...args);
    };
    await clock.advance(6 * SETTINGS.intervalMs);
    expect(a.received).toMatchObject({ lost: 1, reincarnated: 1 });
    expect(a.presence.self().incarnation).toBe('a-2');
  });

  it('is lost after an absence longer than deaths are remembered', async () => {
    const { clock, store, a, b } = await startThree();
    a.connection.isCut = true;
    await clock.advance(DEATH_REMEMBERED_MS / 4);
    expect(b.received.died.at(-1)).toEqual(['a']);
    await store().remove('a');
    await clock.advance(2 * DEATH_REMEMBERED_MS);
    a.connection.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(a.received).toMatchObject({ lost: 1, emptied: 0 });
    expect(a.presence.self().incarnation).toBe('a-2');
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('a-2');
  });

  it('declares no instance dead while its own presence was missing', async () => {
    const { clock, store, a, b } = await startThree();
    const { renew } = store();
    b.connection.isCut = true;
    // A replica that became the master without the last writes, again and again.
    store().renew = async (self, ttlMs) => {
      const renewal = await renew(self, ttlMs);
      return self.instanceId === 'a' ? { ...renewal, kind: 'revived' } : renewal;
    };
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.received.died).toEqual([]);
    store().renew = renew;
    await clock.advance(2 * SETTINGS.ttlMs - SETTINGS.intervalMs);
    expect(a.received.died).toEqual([]);
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('declares no instance dead for two TTLs after a hold-off', async () => {
    const { clock, a, b } = await startThree();
    b.connection.isCut = true;
    await clock.advance(SETTINGS.ttlMs - 1);
    a.presence.holdOff();
    await clock.advance(2 * SETTINGS.ttlMs - 1);
    expect(a.received.died).toEqual([]);
    await clock.advance(SETTINGS.intervalMs + 1);
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('reports no death that the store denies', async () => {
    const { clock, store, a, b } = await startThree();
    b.connection.isCut = true;
    // b renews itself between the membership read of a and the declaration by a.
    store().declareDead = async () => 'living';
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.received.died).toEqual([]);
  });

  it('reports no death if data loss is reported before the declaration', async () => {
    const { clock, store, a, b } = await startThree();
    const { declareDead } = store();
    store().declareDead = async (instanceId) => {
      a.presence.holdOff();
      return declareDead(instanceId);
    };
    b.connection.isCut = true;
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.received.died).toEqual([]);
  });

  it('a renewal that arrives after `leave` does not revive it', async () => {
    const { clock, store, a } = await startThree();
    const { renew } = store();
    store().renew = async (self, ttlMs) => {
      if (self.instanceId === 'a') await new Promise<void>((resolve) => clock.after(500, resolve));
      return renew(self, ttlMs);
    };
    await clock.advance(SETTINGS.intervalMs);
    await a.presence.stop();
    await clock.advance(10_000);
    expect((await store().living(['a'])).size).toBe(0);
    expect(a.received).toMatchObject({ lost: 0, emptied: 0 });
  });

  it('concurrent membership reads share one read of the store', async () => {
    const { clock, store, a } = await startThree();
    const { all } = store();
    let requested = 0;
    const held: (() => void)[] = [];
    store().all = () => {
      requested += 1;
      return new Promise((resolve) => held.push(() => resolve(all())));
    };
    await clock.advance(SETTINGS.viewMs + 1);
    // Each of the three instances reads once by its timer, and has no answer yet.
    expect(requested).toBe(3);
    const views = Promise.all(Array.from({ length: 10 }, () => a.presence.living()));
    for (const answer of held) answer();
    expect((await views).every((view) => view.size === 3)).toBe(true);
    expect(requested).toBe(3);
  });

  it('membership reads use the recent view without a read of the store', async () => {
    const { clock, store, a } = await startThree();
    const { all } = store();
    let requested = 0;
    store().all = () => {
      requested += 1;
      return all();
    };
    const askedFor = async (questions: number): Promise<number> => {
      requested = 0;
      for (let tenth = 0; tenth < 100; tenth += 1) {
        for (let question = 0; question < questions; question += 1)
          expect((await a.presence.living()).size).toBe(3);
        await clock.advance(100);
      }
      return requested;
    };
    const idle = await askedFor(0);
    expect(idle).toBeGreaterThan(30);
    expect(await askedFor(5)).toBeLessThanOrEqual(idle + 3);
  });
});

describe('the time of the store', () => {
  it('is known from the start for any difference of the clocks', async () => {
    const { clock, join } = startPresences();
    for (const ahead of [-3_600_000, 0, 250]) {
      const { presence } = join(`ahead ${ahead}`, { ahead });
      await presence.start();
      expect(presence.storeNow()).toBe(clock.now());
      await clock.advance(7_777);
      expect(presence.storeNow()).toBe(clock.now());
    }
  });
});
